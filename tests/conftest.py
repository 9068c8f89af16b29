"""What all tests share: random numbers that do not depend on the order of the tests."""

import numpy as np
import pytest
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


@pytest.fixture(autouse=True)
def same_random_numbers(request):
    """Start a module's generator ``RNG`` anew for each test, whichever ran before it."""
    generator = getattr(request.module, "RNG", None)
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = np.random.default_rng(97).bit_generator.state
