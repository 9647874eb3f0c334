"""Texts of errors of covector.extend.xla."""


def not_a_stage(where: str, got: object) -> str:
    return (
        f"[{where}] stage must be a PipelineStage enum, got {type(got)}: say "
        "`PipelineStage.PRE_SCHEDULER` or `PipelineStage.POST_SCHEDULER`."
    )
