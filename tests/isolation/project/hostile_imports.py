raise BaseException("imported on a bad day")  # noqa: TRY002
