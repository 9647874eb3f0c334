"""Texts of errors of covector.experimental.serialize_executable."""


def not_compiled(got: object) -> str:
    return (
        f"[serialize] takes what `jit(f).lower(...).compile()` returns, and got a "
        f"{type(got).__name__}. Lower and compile the function first."
    )


def bound_to_process(name: str) -> str:
    return (
        f"[serialize] the program {name!r} calls functions of this Python process (callbacks, "
        "prints), which another process does not have. Compile it without them."
    )


def spread_with_constants(name: str, shapes: list[str], devices: int) -> str:
    return (
        f"[serialize] the program {name!r} has captured arrays of types {', '.join(shapes)}, and "
        f"runs on {devices} devices, over which they are spread. Pass them as arguments."
    )


def other_client(devices: object, platform: str) -> str:
    return (
        f"[deserialize_and_load] the devices {devices} are not of the backend {platform!r}. Pass "
        "devices of that backend, or the backend of the devices."
    )


def no_such_device(number: int, known: list[int]) -> str:
    return (
        f"[deserialize_and_load] the program was compiled for the device {number}, and the devices "
        f"of the backend are {known}. Say with `execution_devices` on which of them it is to run."
    )


def other_number(compiled: int, given: int) -> str:
    return (
        f"[deserialize_and_load] the program was compiled for {compiled} devices, and "
        f"execution_devices names {given}. Give as many as it was compiled for."
    )


def file_is_gone(name: str) -> str:
    return (
        f"[serialize] the program {name!r} was loaded from the folder of compiled programs, where "
        "its file is gone, and XLA cannot write what it has not compiled. Compile it anew with "
        "`enable_compilation_cache` off."
    )
