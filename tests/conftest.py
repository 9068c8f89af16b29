"""What all tests share: reproducible hypothesis runs."""

from hypothesis import HealthCheck, settings

# The same examples on every machine; a shared, busy machine must not make a slow example fail.
settings.register_profile(
    "rectiline",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rectiline")
