/* For tests only: the one function that Rust's library takes from bcryptprimitives.dll, which
 * Wine has from version 9 on. Windows itself has had it since Windows 7.
 *
 * x86_64-w64-mingw32-gcc -shared -o bcryptprimitives.dll bcryptprimitives.c -ladvapi32
 */
#include <windows.h>

/* RtlGenRandom, by the name under which advapi32.dll exports it. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    return SystemFunction036(buffer, (ULONG)length);
}
