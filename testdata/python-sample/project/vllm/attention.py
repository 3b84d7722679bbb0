import aiter


def attention(query, keys):
    return [aiter.dot(query, key) for key in keys]


def paged_attention(query, pages):
    return [attention(query, page) for page in pages]
