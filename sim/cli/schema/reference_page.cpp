
#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "sim/cli/schema/documents.h"

namespace systole::schema {
namespace {

using machine::KeyDescription;
using Type = KeyDescription::Type;

constexpr std::string_view introduction = R"(# Configuration reference

Made by `sim schema --page docs/configuration.md` from the declarations that read these files; a test holds it to them.
`sim schema machine` prints a part of it on a terminal, `sim schema machine --json` as JSON Schema for editors.

- Files are JSON objects. A key that is not listed below is an error; the message names the most similar key.
- *Default* is the value if the key is left out. A key marked *needed* must be given if its section is given. `-` means: no
  default.
- A file is named by its path, or by its bare name: `tpu_v1` is `configs/machines/tpu_v1.json`, looked for from the
  current folder upwards. Relative paths in a run file are looked for in the current folder, then in the run file's
  folder and in those above it.
- [parameters.md](parameters.md) lists the values of the shipped machines, their sources, and what would notice a wrong one.
- Every key of a run can be set on the command line, and every key of its machine behind `machine.`:

      sim run mnist_cnn --set batch=64 --set machine.clock_mhz=1050
)";

/// The text, escaped for a cell of a Markdown table.
std::string cell(std::string_view text) {
    std::string escaped;
    for (const char letter : text) {
        if (letter == '|' || letter == '*' || letter == '_' || letter == '<') escaped += '\\';
        escaped += letter;
    }
    return escaped;
}

bool is_section(const KeyDescription& key) {
    return key.type == Type::Section || key.type == Type::Sections;
}

/// Adds a table of the keys, then each section.
void add_keys(std::string& page, const std::string& path, const std::vector<KeyDescription>& keys,
              const std::string& section) {
    page += "\n| key | default | values | unit | meaning |\n|---|---|---|---|---|\n";
    for (const KeyDescription& key : keys) {
        const std::string meaning = is_section(key) ? key.meaning + "; below" : meaning_text(key);
        page += fmt::format("| `{}{}` | {} | {} | {} | {} |\n", path, key.name,
                            key.type == Type::Section ? "" : cell(default_text(key)), cell(values_text(key)),
                            cell(key.unit), cell(meaning));
    }
    for (const KeyDescription& key : keys) {
        if (!is_section(key)) continue;
        const std::string_view each = key.type == Type::Sections ? "[]" : "";
        page += fmt::format("\n### {}: {}{}{}\n\n", section, path, key.name, each);
        const std::string meaning = meaning_text(key);
        page +=
            fmt::format("{}{}.\n", static_cast<char>(std::toupper(static_cast<unsigned char>(meaning[0]))),
                        cell(meaning.substr(1)));
        add_keys(page, fmt::format("{}{}{}.", path, key.name, each), key.keys, section);
    }
}

}  // namespace

std::string reference_page() {
    std::string page(introduction);
    for (const Document& document : documents()) {
        page += fmt::format("\n## {}: `{}`\n\n{} Shipped ones are in `{}`.\n", document.name, document.schema,
                            document.what, document.folder);
        add_keys(page, "", document.keys, document.name);
    }
    return page;
}

}  // namespace systole::schema
