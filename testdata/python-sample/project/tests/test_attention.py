import pytest

from vllm.attention import attention, paged_attention


def test_attention():
    assert attention([1, 2], [[3, 4]]) == [11]


@pytest.mark.skip(reason="needs a GPU")
def test_paged_attention():
    paged_attention([1], [[[1]]])
