//! Names as numbers: a word met a thousand times is compared and kept as four bytes.

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// The number of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NameId(u32);

/// All words of a run.
#[derive(Debug)]
pub(crate) struct Interner {
    ids: HashMap<Arc<[u8]>, NameId, RandomState>,
    words: Vec<Arc<[u8]>>,
    /// The words below this number are the language's own.
    keywords: u32,
    pub(crate) known: Known,
}

impl Interner {
    pub(crate) fn new() -> Self {
        let mut empty = Self {
            ids: HashMap::default(),
            words: Vec::new(),
            keywords: 0,
            known: Known::default(),
        };
        empty.known = Known::of(&mut empty);
        for word in KEYWORDS {
            empty.intern(word);
        }
        empty.keywords = u32::try_from(empty.words.len()).unwrap_or(u32::MAX);
        empty
    }

    pub(crate) fn intern(&mut self, word: &[u8]) -> NameId {
        if let Some(&id) = self.ids.get(word) {
            return id;
        }
        // 4 billion distinct words would need more text than any run reads.
        let id = NameId(u32::try_from(self.words.len()).unwrap_or(u32::MAX));
        let word: Arc<[u8]> = word.into();
        self.words.push(Arc::clone(&word));
        self.ids.insert(word, id);
        id
    }

    /// Whether a word is the language's own, and names nothing.
    pub(crate) fn is_keyword(&self, id: NameId) -> bool {
        id.0 < self.keywords
    }

    /// The number of a word that was met before.
    pub(crate) fn find(&self, word: &[u8]) -> Option<NameId> {
        self.ids.get(word).copied()
    }

    pub(crate) fn word(&self, id: NameId) -> &[u8] {
        &self.words[id.0 as usize]
    }
}

macro_rules! known {
    ($($field:ident = $word:literal),* $(,)?) => {
        /// The words that mean something to the rules.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct Known { $(pub(crate) $field: NameId),* }

        impl Default for Known {
            fn default() -> Self {
                Self { $($field: NameId(0)),* }
            }
        }

        impl Known {
            fn of(names: &mut Interner) -> Self {
                Self { $($field: names.intern($word)),* }
            }
        }
    };
}

known! {
    align = b"__align__",
    alignas = b"alignas",
    attribute = b"__attribute__",
    catch = b"catch",
    class = b"class",
    consteval = b"consteval",
    constexpr = b"constexpr",
    cplusplus = b"__cplusplus",
    declspec = b"__declspec",
    define = b"define",
    defined = b"defined",
    device = b"__device__",
    elif = b"elif",
    elifdef = b"elifdef",
    elifndef = b"elifndef",
    r#else = b"else",
    endif = b"endif",
    r#enum = b"enum",
    r#extern = b"extern",
    global = b"__global__",
    host = b"__host__",
    r#if = b"if",
    ifdef = b"ifdef",
    ifndef = b"ifndef",
    include = b"include",
    namespace = b"namespace",
    operator = b"operator",
    pragma = b"pragma",
    r#struct = b"struct",
    template = b"template",
    tile = b"__tile__",
    tile_global = b"__tile_global__",
    typedef = b"typedef",
    r#union = b"union",
    va_args = b"__VA_ARGS__",
}

/// Words that no program can give a meaning to, beyond those above.
const KEYWORDS: [&[u8]; 62] = [
    b"auto",
    b"bool",
    b"break",
    b"case",
    b"char",
    b"char16_t",
    b"char32_t",
    b"char8_t",
    b"concept",
    b"const",
    b"const_cast",
    b"constinit",
    b"continue",
    b"co_await",
    b"co_return",
    b"co_yield",
    b"decltype",
    b"default",
    b"delete",
    b"do",
    b"double",
    b"dynamic_cast",
    b"explicit",
    b"export",
    b"false",
    b"float",
    b"for",
    b"friend",
    b"goto",
    b"inline",
    b"int",
    b"long",
    b"mutable",
    b"new",
    b"noexcept",
    b"nullptr",
    b"private",
    b"protected",
    b"public",
    b"register",
    b"reinterpret_cast",
    b"requires",
    b"return",
    b"short",
    b"signed",
    b"sizeof",
    b"static",
    b"static_assert",
    b"static_cast",
    b"switch",
    b"this",
    b"thread_local",
    b"throw",
    b"true",
    b"try",
    b"typeid",
    b"typename",
    b"unsigned",
    b"virtual",
    b"void",
    b"volatile",
    b"while",
];
