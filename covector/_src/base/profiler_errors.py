"""Texts of errors of covector.profiler."""


def already_tracing(log_dir: str) -> str:
    return (
        f"[start_trace] Profile has already been started: a trace into {log_dir!r} is running, and "
        "there can be one at a time. Call stop_trace first."
    )


def no_trace() -> str:
    return "[stop_trace] No profile started: call start_trace first, or use `with trace(...)`."


def not_one_trace(folder: object, count: int) -> str:
    return (
        f"[stop_trace] {folder} holds {count} files *.trace.json.gz, where one was expected. Trace "
        "into a folder that nobody else writes to."
    )


def server_runs(port: int) -> str:
    return (
        f"[start_server] the server runs already, at port {port}; there is one in a process. Call "
        "stop_server first."
    )


def no_server() -> str:
    return "[stop_server] there is no server: none was started, or it was stopped."
