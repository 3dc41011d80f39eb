use super::*;

#[test]
fn names_are_brought_to_one_form() {
    for (text, name) in [
        ("hooks.example.com", "hooks.example.com"),
        ("Hooks.EXAMPLE.com.", "hooks.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("faß.example", "xn--fa-hia.example"),
        ("日本語。例え", "xn--wgv71a119e.xn--r8jz45g"),
        ("a-b--c.1.example", "a-b--c.1.example"),
        ("1.2.3.4.example", "1.2.3.4.example"),
        ("a.b0x1", "a.b0x1"),
    ] {
        assert_eq!(domain(text).expect(text), name);
    }
    let longest = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61)].join(".");
    assert_eq!(domain(&longest).expect("253 bytes"), longest);
}

#[test]
fn what_is_no_name_is_refused() {
    let long_label = format!("{}.example", "a".repeat(64));
    let long_name = format!("{}.example", ["a"; 124].join("."));
    let far_too_long = "ä.".repeat(1_000);
    for text in [
        "",
        ".",
        "..",
        "com",
        "localhost",
        "localhost.",
        ".example.com",
        "a..example.com",
        "example.com..",
        "https://example.com",
        "example.com:8080",
        "example.com/path",
        "user@example.com",
        "*.example.com",
        "a*.example.com",
        "under_score.example.com",
        "-a.example.com",
        "a-.example.com",
        "a b.example.com",
        " example.com",
        "example.com\n",
        "exa\u{0}mple.com",
        "exa%6dple.com",
        "127.0.0.1",
        "0x7f.1",
        "a.0x7f",
        "a.0x",
        "１２７.0.0.１",
        "[::1]",
        "::1",
        "xn--a.example",
        "xn--bücher.example",
        "a\u{200d}b.example",
        "a\u{202e}b.example",
        &long_label,
        &long_name,
        &far_too_long,
    ] {
        let error = domain(text).expect_err(text);
        let said = error.to_string();
        assert!(said.starts_with("must ") || said.contains("such as hooks.example.com"), "{said}");
    }
}
