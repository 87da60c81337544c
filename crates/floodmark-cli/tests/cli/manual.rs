//! Completions and manual pages: they know all that can be typed.

use crate::common::run;

/// Every long option of a command's help.
fn options(command: &str) -> Vec<String> {
    let help = run(&[command, "--help"]).quiet().stdout;
    let mut options: Vec<String> = Vec::new();
    for word in help.split_whitespace().filter_map(|word| word.strip_prefix("--")) {
        let name: String = word.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        if !name.is_empty() && !options.contains(&name) {
            options.push(name);
        }
    }
    assert!(options.len() > 10, "{options:?}");
    options
}

#[test]
fn every_shell_is_told_every_option() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell]).quiet().stdout;
        for option in ["hot", "replay"].into_iter().flat_map(options) {
            assert!(script.contains(&option), "{shell} does not know --{option}");
        }
    }
    let error = run(&["completions", "tcsh"]);
    assert!(
        error.code == Some(2) && error.stderr.contains("bash, elvish, fish, powershell, zsh"),
        "{error:?}"
    );
}

#[test]
fn the_manual_has_a_page_for_floodmark_and_for_each_command() {
    let page = run(&["man"]).quiet().stdout;
    assert!(page.contains(".TH floodmark 1"), "{page}");
    for command in ["hot", "replay", "completions", "man"] {
        assert!(page.contains(&format!("floodmark\\-{command}(1)")), "{command}");
    }
    for command in ["hot", "replay"] {
        let page = run(&["man", command]).quiet().stdout;
        assert!(page.contains(&format!(".TH floodmark-{command} 1")), "{page}");
        for option in options(command) {
            assert!(page.contains(&option.replace('-', "\\-")), "{command}: --{option}");
        }
    }
}

/// As somebody types it who has the shell complete it.
#[test]
fn bash_completes_options_and_their_values() {
    let Ok(bash) = std::process::Command::new("bash").arg("--version").output() else { return };
    assert!(bash.status.success());
    let script = run(&["completions", "bash"]).quiet().stdout;
    let complete = |words: &[&str]| {
        let typed = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let last = words.len() - 1;
        let ask = format!(
            "{script}\nCOMP_WORDS=({typed}); COMP_CWORD={last}; \
             _floodmark floodmark '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words[last],
            words[last - 1],
        );
        let output = std::process::Command::new("bash").args(["-c", &ask]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["floodmark", "rep"]), ["replay"]);
    assert_eq!(complete(&["floodmark", "hot", "--tru"]), ["--trusted-proxy"]);
    assert_eq!(complete(&["floodmark", "hot", "--wh"]), ["--why", "--where"]);
    assert_eq!(complete(&["floodmark", "hot", "--output", "j"]), ["jsonl"]);
    assert_eq!(complete(&["floodmark", "hot", "--format", "mon"]), ["monitor"]);
}

#[test]
fn a_manual_of_no_command_is_refused_with_those_there_are() {
    let error = run(&["man", "cold"]);
    assert_eq!(error.code, Some(2));
    assert!(
        error.stderr.contains("there is no command cold: they are hot, replay, completions, man"),
        "{error:?}"
    );
}
