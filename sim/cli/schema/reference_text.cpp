
#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/schema/documents.h"
#include "sim/view/terminal/layout.h"

namespace systole::schema {
namespace {

using machine::KeyDescription;
using terminal::Role;

class Writer {
public:
    explicit Writer(const terminal::Look& look) : look_(look) {}

    void add(const std::string& path, const std::vector<KeyDescription>& keys) {
        std::size_t widest = 0;
        for (const KeyDescription& key : keys) widest = std::max(widest, path.size() + key.name.size());
        for (const KeyDescription& key : keys) {
            const bool is_section = key.type == KeyDescription::Type::Section;
            if (is_section) text_ += '\n';
            const std::string name = look_.paint(is_section ? Role::Heading : Role::Active,
                                                 fmt::format("  {:<{}}", path + key.name, widest));
            line(name + "  ", is_section ? "" : facts(key));
            line("      ", meaning_text(key));
            if (is_section) add(path + key.name + ".", key.keys);
        }
    }
    void line(const std::string& lead, const std::string& text) {
        std::string made = terminal::beside(lead, text, look_.width());
        made.erase(made.find_last_not_of(' ') + 1);
        text_ += made + '\n';
    }

    std::string text() && { return std::move(text_); }

private:
    static std::string facts(const KeyDescription& key) {
        const std::string unit = key.unit.empty() ? "" : " " + key.unit;
        if (key.needed) return fmt::format("{}{}; needed", values_text(key), unit);
        return fmt::format("{}{}; default {}", values_text(key), unit, default_text(key));
    }

    const terminal::Look look_;
    std::string text_;
};

}  // namespace

std::string reference_text(const Document& document, const terminal::Look& look) {
    Writer writer(look);
    writer.line(look.paint(Role::Heading, document.schema) + ": ", document.what);
    writer.line("", "");
    writer.add("", document.keys);
    return std::move(writer).text();
}

}  // namespace systole::schema
