"""The part of lichess' bot API that lichess-bot uses, on this machine: it sends challenges, plays
the opponent's side, keeps the clocks and records every game. Used by lichess_bot.py.
"""

import http.server
import json
import queue
import random
import re
import threading
import time
import urllib.parse
from dataclasses import dataclass, field

import chess
import chess.pgn

BOT = "pleach"
OPPONENT = "opponent"
# lichess sends an empty line so often; lichess-bot gives a stream up after 15 seconds of silence.
KEEP_ALIVE_SECONDS = 2.0
STARTING = "startpos"


@dataclass
class Plan:
    """One game: what the challenge says, and what the opponent does."""

    name: str
    variant: str = "standard"
    fen: str = STARTING
    bot_white: bool = True
    seconds: float = 10
    increment: float = 0.5
    # Plies after which the opponent does these; None: never.
    abort_at: int | None = None
    resign_at: int | None = None
    offer_draw_at: int | None = None
    takeback_at: int | None = None
    cut_stream_at: int | None = None
    accepts_draws: bool = False
    # After so many plies a game counts as drawn.
    most_plies: int = 400


@dataclass
class Game:
    """A game in play or played."""

    id: str
    plan: Plan
    board: chess.Board
    clocks: dict
    status: str = "created"
    winner: str | None = None
    offers: set = field(default_factory=set)
    takeback: bool = False
    bot_offers: int = 0
    ended: threading.Event = field(default_factory=threading.Event)
    listeners: list = field(default_factory=list)
    turn_began: float | None = None
    chat: list = field(default_factory=list)
    lost_on_time_by: str | None = None


VARIANTS = {"standard": "Standard", "chess960": "Chess960", "fromPosition": "From Position", "atomic": "Atomic"}


def colour(white):
    return "white" if white else "black"


class Lichess:
    """The server's state. `choose` is called with a board and returns the opponent's move."""

    def __init__(self, choose, seed=1):
        self.choose = choose
        self.random = random.Random(seed)
        self.lock = threading.RLock()
        self.events = queue.Queue()
        self.connected = threading.Event()
        self.games = {}
        self.declined = {}
        self.errors = []

    # What lichess-bot asks for.

    def account(self):
        return {"id": BOT, "username": BOT, "title": "BOT", "online": True, "perfs": {}}

    def playing(self):
        with self.lock:
            return {"nowPlaying": [
                {"gameId": game.id, "speed": "blitz", "isMyTurn": False, "opponent": {"username": OPPONENT}}
                for game in self.games.values() if game.status == "started"
            ]}

    def challenge(self, plan):
        """Sends a challenge; the game begins when lichess-bot accepts it."""
        with self.lock:
            name = f"game{len(self.games):04d}"
            fen = chess.STARTING_FEN if plan.fen == STARTING else plan.fen
            board = chess.Board(fen, chess960=plan.variant == "chess960")
            clock = {chess.WHITE: plan.seconds, chess.BLACK: plan.seconds}
            game = self.games[name] = Game(name, plan, board, clock)
        self.events.put({"type": "challenge", "challenge": {
            "id": name, "rated": False, "speed": "blitz", "color": colour(not plan.bot_white),
            "variant": {"key": plan.variant, "name": VARIANTS[plan.variant]}, "perf": {"name": "Blitz"},
            "timeControl": {"type": "clock", "limit": plan.seconds, "increment": plan.increment},
            "challenger": {"id": OPPONENT, "name": OPPONENT, "title": None, "rating": 2000},
            "destUser": {"id": BOT, "name": BOT, "title": "BOT", "rating": 2000}, "initialFen": plan.fen,
        }})
        return game

    def accept(self, name):
        game = self.games[name]
        with self.lock:
            game.status = "started"
            self.start(game)
            self.answer(game)

    def start(self, game):
        self.events.put({"type": "gameStart", "game": {
            "id": game.id, "gameId": game.id, "source": "friend", "opponent": {"username": OPPONENT}}})

    def decline(self, name, reason):
        game = self.games[name]
        self.declined[name] = reason
        game.status = "declined"
        game.ended.set()

    def state(self, game):
        white, black = (int(1000 * max(0, game.clocks[side])) for side in (chess.WHITE, chess.BLACK))
        step = int(1000 * game.plan.increment)
        moves = " ".join(move.uci() for move in game.board.move_stack)
        state = {"type": "gameState", "moves": moves, "wtime": white, "btime": black,
                 "winc": step, "binc": step, "status": game.status}
        if game.winner:
            state["winner"] = game.winner
        for side in (chess.WHITE, chess.BLACK):
            if side in game.offers:
                state[f"{colour(side)[0]}draw"] = True
        if game.takeback:
            state[f"{colour(not game.plan.bot_white)[0]}takeback"] = True
        return state

    def full(self, game):
        people = {"white": OPPONENT, "black": OPPONENT, colour(game.plan.bot_white): BOT}
        return {
            "type": "gameFull", "id": game.id, "rated": False, "speed": "blitz", "createdAt": int(time.time() * 1000),
            "variant": {"key": game.plan.variant, "name": VARIANTS[game.plan.variant], "short": "?"},
            "perf": {"name": "Blitz"}, "initialFen": game.plan.fen, "state": self.state(game),
            "clock": {"initial": int(1000 * game.plan.seconds), "increment": int(1000 * game.plan.increment)},
            **{side: {"id": name, "name": name, "title": "BOT" if name == BOT else None, "rating": 2000}
               for side, name in people.items()},
        }

    def listen(self, name):
        """A stream of a game: everything so far, then what happens."""
        game = self.games[name]
        with self.lock:
            lines = queue.Queue()
            lines.put(self.full(game))
            if game.ended.is_set():
                lines.put(None)
            game.listeners.append(lines)
            return lines

    def tell(self, game, message=None):
        for lines in game.listeners:
            lines.put(message or self.state(game))

    # What happens on the board.

    def spend(self, game):
        """Takes the time of the side to move from its clock, once both have moved."""
        side, now = game.board.turn, time.monotonic()
        if len(game.board.move_stack) >= 2 and game.turn_began is not None:
            game.clocks[side] -= now - game.turn_began
            if game.clocks[side] <= 0:
                game.lost_on_time_by = colour(side)
                game.clocks[side] = 0.0
            game.clocks[side] += game.plan.increment
        game.turn_began = now

    def move(self, name, text, offers_draw):
        """The bot's move; False where the rules do not allow it."""
        game = self.games[name]
        with self.lock:
            if game.status != "started":
                return False
            move = chess.Move.from_uci(text)
            if game.board.turn != game.plan.bot_white or move not in game.board.legal_moves:
                self.errors.append(f"{game.plan.name}: {text} in {game.board.fen()}")
                return False
            # An offer that both sides have made is agreed on.
            offered = (not game.plan.bot_white) in game.offers
            self.play(game, move)
            if offers_draw and game.status == "started":
                game.bot_offers += 1
                game.offers.add(game.plan.bot_white)
                if offered or game.plan.accepts_draws:
                    self.end(game, "draw")
            if game.status == "started":
                self.tell(game)
                self.answer(game)
        return True

    def play(self, game, move):
        self.spend(game)
        game.offers.discard(not game.board.turn)  # An offer ends with the answer to it.
        game.board.push(move)
        outcome = game.board.outcome(claim_draw=True)
        if game.lost_on_time_by:
            self.end(game, "outoftime", colour(game.lost_on_time_by != "white"))
        elif outcome:
            mate = outcome.termination is chess.Termination.CHECKMATE
            self.end(game, "mate" if mate else "draw", colour(outcome.winner) if mate else None)
        elif len(game.board.move_stack) >= game.plan.most_plies:
            self.end(game, "draw")

    def answer(self, game):
        """Lets the opponent do what its plan says, if it has the move."""
        plies = len(game.board.move_stack)
        if game.status == "started" and game.board.turn != game.plan.bot_white:
            threading.Thread(target=self.opponent, args=(game, plies), daemon=True).start()

    def opponent(self, game, plies):
        plan = game.plan
        reached = lambda limit: limit is not None and plies >= limit
        if reached(plan.abort_at):
            return self.finish(game, "aborted")
        if reached(plan.resign_at):
            time.sleep(0.3)  # The bot ponders meanwhile.
            return self.finish(game, "resign", colour(plan.bot_white))
        if reached(plan.cut_stream_at):
            plan.cut_stream_at = None
            with self.lock:
                for lines in game.listeners:
                    lines.put(None)
                game.listeners.clear()
            time.sleep(3)
            self.start(game)
            time.sleep(1)
        if reached(plan.takeback_at) and not game.takeback:
            game.takeback = True
            with self.lock:
                self.tell(game)
        move = self.choose(game.board.copy())
        time.sleep(self.random.choice((0, 0, 0.05, 0.3)))
        with self.lock:
            if game.status != "started":
                return
            self.play(game, move)
            if reached(plan.offer_draw_at) and game.status == "started":
                game.offers.add(not plan.bot_white)
            if game.status == "started":
                self.tell(game)

    def finish(self, game, status, winner=None):
        with self.lock:
            self.end(game, status, winner)

    def end(self, game, status, winner=None):
        if game.status != "started":
            return
        game.status, game.winner = status, winner
        self.tell(game)
        for lines in game.listeners:
            lines.put(None)
        self.events.put({"type": "gameFinish", "game": {"id": game.id, "gameId": game.id}})
        game.ended.set()

    def pgn(self, name):
        game = self.games[name]
        record = chess.pgn.Game.from_board(game.board)
        record.headers["Result"] = {"white": "1-0", "black": "0-1"}.get(game.winner, "1/2-1/2")
        return str(record) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    """Requests of lichess-bot."""

    protocol_version = "HTTP/1.1"
    lichess: Lichess

    def log_message(self, *_):
        pass

    def send_json(self, answer, code=200):
        self.send_text(json.dumps(answer), code, "application/json")

    def send_text(self, text, code=200, kind="text/plain"):
        data = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_stream(self, lines):
        """Lines as they come, until None; empty ones in between."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while True:
                try:
                    message = lines.get(timeout=KEEP_ALIVE_SECONDS)
                    data = b"" if message is None else json.dumps(message).encode() + b"\n"
                except queue.Empty:
                    data, message = b"\n", ""
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
                if message is None:
                    return
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path == "/api/account":
            self.send_json(self.lichess.account())
        elif path == "/api/account/playing":
            self.send_json(self.lichess.playing())
        elif path == "/api/stream/event":
            self.lichess.connected.set()
            self.send_stream(self.lichess.events)
        elif found := re.fullmatch(r"/api/bot/game/stream/(\w+)", path):
            self.send_stream(self.lichess.listen(found[1]))
        elif found := re.fullmatch(r"/game/export/(\w+)", path):
            self.send_text(self.lichess.pgn(found[1]))
        elif path == "/api/users/status":
            self.send_json([{"id": BOT, "online": True}])
        else:
            self.unknown()

    def do_POST(self):
        address = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        asked = {key: values[0] for key, values in urllib.parse.parse_qs(f"{address.query}&{body}").items()}
        if address.path == "/api/token/test":
            return self.send_json({body: {"userId": BOT, "scopes": "bot:play"}})
        found = re.fullmatch(r"/api/(challenge|bot/game)/(\w+)/(\w+)(?:/(\w+))?", address.path)
        if not found:
            return self.unknown()
        _, name, action, word = found.groups()
        lichess = self.lichess
        if action == "move":
            done = lichess.move(name, word, asked.get("offeringDraw") == "true")
            return self.send_json({"ok": done}, 200 if done else 400)
        if action == "accept":
            lichess.accept(name)
        elif action == "decline":
            lichess.decline(name, asked.get("reason", ""))
        elif action == "chat":
            lichess.games[name].chat.append(asked)
        elif action == "abort":
            lichess.finish(lichess.games[name], "aborted")
        elif action == "resign":
            game = lichess.games[name]
            lichess.finish(game, "resign", colour(not game.plan.bot_white))
        elif action != "takeback":
            return self.unknown()
        return self.send_json({"ok": True})

    def unknown(self):
        self.lichess.errors.append(f"{self.command} {self.path} is not imitated")
        self.send_json({"error": "not imitated"}, 404)


def serve(lichess):
    """Starts a server on a free port; returns it."""
    handler = type("BoundHandler", (Handler,), {"lichess": lichess})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
