//! Names from outside the repository whose meaning is known.

/// Whether calling the name runs no code of the repository, throws nothing and launches nothing.
pub(crate) fn is_quiet(name: &[u8]) -> bool {
    KEYWORDS.contains(&name)
        || LIBRARY.contains(&name)
        || is_quiet_runtime(name)
        || is_plain_type(name)
}

/// Whether making a variable of this type runs no code that could throw.
pub(crate) fn is_plain_type(name: &[u8]) -> bool {
    name.ends_with(b"_t")
        || TYPES.contains(&name)
        || (is_runtime(name) && !name.starts_with(b"hipcub") && !name.starts_with(b"cub"))
}

/// Whether the name belongs to the CUDA or HIP runtime.
pub(crate) fn is_runtime(name: &[u8]) -> bool {
    let upper_after = |prefix: &[u8]| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.first())
            .is_some_and(u8::is_ascii_uppercase)
    };
    upper_after(b"cuda") || upper_after(b"hip") || upper_after(b"cublas") || upper_after(b"hipblas")
}

/// Runtime functions that only do what they say: no launch of a kernel that is not named, no call of a function that
/// was handed in before.
fn is_quiet_runtime(name: &[u8]) -> bool {
    let loud: [&[u8]; 6] = [
        b"Launch",
        b"Callback",
        b"HostFunc",
        b"Graph",
        b"Module",
        b"Library",
    ];
    is_runtime(name)
        && !loud
            .iter()
            .any(|part| memchr::memmem::find(name, part).is_some())
}

/// Runtime functions that hand out what device code stored: a pointer to a device function, say.
pub(crate) const SYMBOL_READERS: [&[u8]; 6] = [
    b"cudaMemcpyFromSymbol",
    b"cudaMemcpyFromSymbolAsync",
    b"cudaGetSymbolAddress",
    b"hipMemcpyFromSymbol",
    b"hipMemcpyFromSymbolAsync",
    b"hipGetSymbolAddress",
];

/// Words that leave a function, or the program, other than by its end.
pub(crate) const LEAVING: [&[u8]; 14] = [
    b"return",
    b"throw",
    b"goto",
    b"break",
    b"continue",
    b"exit",
    b"_exit",
    b"quick_exit",
    b"longjmp",
    b"co_return",
    b"co_await",
    b"co_yield",
    b"try",
    b"rethrow_exception",
];

/// Words that make what follows them depend on something.
pub(crate) const BRANCHING: [&[u8]; 7] =
    [b"if", b"else", b"for", b"while", b"switch", b"do", b"case"];

const KEYWORDS: [&[u8]; 22] = [
    b"if",
    b"for",
    b"while",
    b"switch",
    b"return",
    b"sizeof",
    b"alignof",
    b"alignas",
    b"decltype",
    b"noexcept",
    b"static_cast",
    b"reinterpret_cast",
    b"const_cast",
    b"static_assert",
    b"defined",
    b"catch",
    b"__launch_bounds__",
    b"__attribute__",
    b"HIP_KERNEL_NAME",
    b"typeof",
    b"requires",
    b"explicit",
];

const TYPES: [&[u8]; 36] = [
    b"dim3",
    b"bool",
    b"char",
    b"short",
    b"int",
    b"long",
    b"float",
    b"double",
    b"unsigned",
    b"signed",
    b"void",
    b"auto",
    b"half",
    b"half2",
    b"__half",
    b"__half2",
    b"__nv_bfloat16",
    b"__nv_bfloat162",
    b"nv_bfloat16",
    b"hip_bfloat16",
    b"float2",
    b"float3",
    b"float4",
    b"double2",
    b"int2",
    b"int3",
    b"int4",
    b"uint",
    b"uint2",
    b"uint3",
    b"uint4",
    b"uchar4",
    b"uint8_t",
    b"__hip_bfloat16",
    b"short2",
    b"short4",
];

const LIBRARY: [&[u8]; 40] = [
    b"min",
    b"max",
    b"abs",
    b"fabs",
    b"fabsf",
    b"sqrt",
    b"sqrtf",
    b"exp",
    b"expf",
    b"log",
    b"logf",
    b"log2",
    b"log2f",
    b"pow",
    b"powf",
    b"ceil",
    b"ceilf",
    b"floor",
    b"floorf",
    b"round",
    b"roundf",
    b"fmin",
    b"fmax",
    b"fminf",
    b"fmaxf",
    b"printf",
    b"fprintf",
    b"snprintf",
    b"puts",
    b"fflush",
    b"memcpy",
    b"memset",
    b"memcmp",
    b"strlen",
    b"strcmp",
    b"assert",
    b"abort",
    b"move",
    b"make_float4",
    b"make_float2",
];

/// Members of the standard library's containers and of their iterators, which call nothing of the repository.
pub(crate) const MEMBERS: [&[u8]; 14] = [
    b"size", b"data", b"empty", b"begin", b"end", b"front", b"back", b"c_str", b"get", b"first",
    b"second", b"length", b"count", b"find",
];

/// Words of a head that are neither the language's nor the program's.
pub(crate) const ATTRIBUTES: [&[u8]; 14] = [
    b"__global__",
    b"__device__",
    b"__forceinline__",
    b"__noinline__",
    b"__inline__",
    b"__launch_bounds__",
    b"__attribute__",
    b"__align__",
    b"__restrict__",
    b"__cluster_dims__",
    b"__maxnreg__",
    b"__tile__",
    b"__tile_global__",
    b"__host__",
];
