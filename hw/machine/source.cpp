#include "hw/machine/source.h"

#include <fmt/format.h>

#include <cstddef>

#include "hw/machine/config_error.h"

namespace systole::machine {

Source read_source(std::string_view key, std::string_view text, const std::string& file) {
    for (std::size_t kind = 0; kind < source_kind_names.size(); ++kind) {
        const std::string lead = fmt::format("{}: ", source_kind_names[kind]);
        if (!text.starts_with(lead) || text.size() == lead.size()) continue;
        return {.kind = static_cast<SourceKind>(kind), .text = std::string(text.substr(lead.size()))};
    }
    throw ConfigError(
        fmt::format("{}: sources.{} is \"{}\"; it must begin with a kind and a colon, and say "
                    "more: {}",
                    file, key, text, fmt::join(source_kind_names, ", ")));
}

}  // namespace systole::machine
