use super::*;

/// One edit of the root, or of the value of its key `x`.
fn edited(text: &str, edit: impl FnOnce(&mut Edits<'_>, &Node<'_>, Option<&Node<'_>>)) -> String {
    let document = Document::parse(text).unwrap();
    let mut edits = Edits::new(&document);
    edit(&mut edits, &document.root, document.root.get("x"));
    edits.apply().unwrap()
}

const LINES: &str = "a: b # c\n'd'\n";

#[test]
fn a_key_is_set_in_the_style_of_its_surroundings() {
    let list = || {
        New::List(vec![
            New::text("1"),
            New::Map(vec![("k".to_owned(), New::Number(2))]),
        ])
    };
    for (text, value, expected) in [
        ("x: 1 # why\ny: 2\n", New::Number(3), "x: 3 # why\ny: 2\n"),
        (
            "x: |\n  a\n\n# r\ny: 2\n",
            New::text("b"),
            "x: b\n# r\ny: 2\n",
        ),
        (
            "x: 1 # why\ny: 2\n",
            New::text(LINES),
            "x: | # why\n  a: b # c\n  'd'\ny: 2\n",
        ),
        (
            "x:\n# r\ny: 2\n",
            New::text("yes"),
            "x: \"yes\"\n# r\ny: 2\n",
        ),
        (
            "y: 2 # last\n# r\n",
            New::Number(3),
            "y: 2 # last\nx: 3\n# r\n",
        ),
        ("y: 2", list(), "y: 2\nx:\n  - \"1\"\n  - k: 2"),
        ("y: 2\r\nz: 3\r\n", New::Number(3), "y: 2\r\nz: 3\nx: 3\r\n"),
        (
            "y: |+\n  a\n\n\nz: b\n",
            New::Number(3),
            "y: |+\n  a\n\n\nz: b\nx: 3\n",
        ),
        ("y: |+\n  a\n\n\n", New::Number(3), "y: |+\n  a\n\n\nx: 3\n"),
        ("{}\n", list(), "{\"x\": [\"1\", {\"k\": 2}]}\n"),
        ("{y: z }\n", New::text("ü"), "{y: z, \"x\": \"ü\" }\n"),
        (
            "{\n  \"y\": [1, 2]\n}\n",
            New::Number(3),
            "{\n  \"y\": [1, 2],\n  \"x\": 3\n}\n",
        ),
        (
            "{\"x\" : \"\\ud83d\\ude80\", \"y\": \"\\\\u1\"}",
            New::text("a\n"),
            "{\"x\" : \"a\\n\", \"y\": \"\\\\u1\"}",
        ),
    ] {
        let new = value.clone();
        assert_eq!(
            edited(text, |edits, root, _| edits.set(root, "x", new)),
            expected,
            "{text}"
        );
    }
}

#[test]
fn a_list_is_surrounded_in_its_own_style() {
    for (text, expected) in [
        (
            "x:\n- a # why\n# r\n",
            "x:\n- before\n- a # why\n- |-\n  c\n  d\n# r\n",
        ),
        (
            "x:\n    -   a\n    - |\n      b\n\ny: 1\n",
            "x:\n    - before\n    -   a\n    - |\n      b\n\n    - |-\n      c\n      d\ny: 1\n",
        ),
        (
            "x:\n-\n  k: v\n",
            "x:\n- before\n-\n  k: v\n- |-\n  c\n  d\n",
        ),
        ("x: [a, b ]\n", "x: [\"before\", a, b, \"c\\nd\" ]\n"),
        ("x: []\n", "x: [\"before\", \"c\\nd\"]\n"),
        ("x: [a, b, ]\n", "x: [\"before\", a, b, \"c\\nd\", ]\n"),
        (
            "x: [{y: [z,],}, {y: z, }]\n",
            "x: [\"before\", {y: [z,],}, {y: z, }, \"c\\nd\"]\n",
        ),
        (
            "x: [\n  a\n]\n",
            "x: [\n  \"before\",\n  a,\n  \"c\\nd\"\n]\n",
        ),
    ] {
        let surround = |edits: &mut Edits<'_>, _: &Node<'_>, list: Option<&Node<'_>>| {
            edits.surround(
                list.unwrap(),
                vec![New::text("before")],
                vec![New::text("c\nd")],
            );
        };
        assert_eq!(edited(text, surround), expected, "{text}");
    }
}

#[test]
fn an_item_is_replaced() {
    for (text, expected) in [
        ("x:\n- a\n- b # why\n", "x:\n- a\n- |- # why\n  c\n  d\n"),
        (
            "x:\n- a\n- >-\n  b\n  b\ny: 1\n",
            "x:\n- a\n- |-\n  c\n  d\ny: 1\n",
        ),
        ("x: [a, 'b']\n", "x: [a, \"c\\nd\"]\n"),
    ] {
        let replace = |edits: &mut Edits<'_>, _: &Node<'_>, list: Option<&Node<'_>>| {
            let list = list.unwrap();
            edits.replace(list, &list.items().unwrap()[1], New::text("c\nd"));
        };
        assert_eq!(edited(text, replace), expected, "{text}");
    }
}

#[test]
fn edits_at_one_place_stand_in_their_order() {
    let text = "a:\n  b:\n  - c\n";
    let document = Document::parse(text).unwrap();
    let mut edits = Edits::new(&document);
    let inner = document.root.get("a").unwrap();
    edits.set(&document.root, "z", New::Number(1));
    edits.set(inner, "e", New::Number(2));
    edits.surround(inner.get("b").unwrap(), Vec::new(), vec![New::text("d")]);
    assert_eq!(
        edits.apply().unwrap(),
        "a:\n  b:\n  - c\n  - d\n  e: 2\nz: 1\n"
    );
}

#[test]
fn texts_of_any_kind_come_back_as_they_are() {
    for text in [
        "",
        " ",
        "a",
        "1",
        "1.5",
        "-",
        "~",
        "null",
        "no",
        ".5",
        ".inf",
        "a: b",
        "a #b",
        "#",
        "*",
        "a:",
        "'",
        "\"",
        "a\n",
        "a\n\n",
        "\na",
        " a\nb",
        "a\n b\n\n  c",
        "a\tb\n\tc",
        "a\r\nb",
        "\u{7}\nb",
        "\u{2028}\nb",
        "ü\nö",
        "- a\n- b",
        "@x",
        "%x",
        "`x",
        "!x",
        "&x\n*y",
        "x\n---\ny",
        "x\n...\ny",
        "2030-01-01",
        "0x1f",
        "1_000",
        "12e03",
        "y",
    ] {
        for document in ["y: 1\n", "{y: 1}\n"] {
            let edited = edited(document, |edits, root, _| {
                edits.set(root, "x", New::text(text));
            });
            let again = Document::parse(&edited).unwrap();
            assert_eq!(
                again.root.get("x").unwrap().scalar(),
                Some(text),
                "{edited}"
            );
        }
    }
}

#[test]
fn a_bracket_in_a_comment_ends_nothing() {
    for (text, held) in [
        ("x: [a, b, # see [1]\n]\ny: 1\n", "[a, b, # see [1]\n]"),
        (
            "x: [a, # ]\n  # ] again\n  ]\ny: 1\n",
            "[a, # ]\n  # ] again\n  ]",
        ),
        ("x: {a: 1, # {b}\n}\ny: 1\n", "{a: 1, # {b}\n}"),
        ("x: [a, b # see [1]\n]\ny: 1\n", "[a, b # see [1]\n]"),
    ] {
        let document = Document::parse(text).unwrap();
        let node = document.root.get("x").unwrap();
        assert_eq!(&text[node.start..node.end], held);
    }
}
