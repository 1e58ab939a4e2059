#include "compiler/operators/tables.h"

#include <stdexcept>

namespace systole::operators {

mapping::ByteTable tabulate(const std::function<float(float)>& function, const ir::Encoding& from,
                            const ir::Encoding& to) {
    mapping::ByteTable table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        const float value = function(static_cast<float>(from.real(static_cast<std::int32_t>(byte))));
        table[byte] = static_cast<std::uint8_t>(to.stored(value));
    }
    return table;
}

mapping::WideTable tabulate_wide(const std::function<float(float)>& function, const ir::Encoding& from,
                                 const ir::Encoding& to) {
    constexpr std::int32_t step = 128;
    mapping::WideTable table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::int32_t stored = static_cast<std::int32_t>(i) * step + lowest_of(from.type);
        const float value = function(static_cast<float>(from.real(stored)));
        table[i] = static_cast<std::int16_t>(to.stored(value));
    }
    return table;
}

mapping::Table make_table(const std::function<float(float)>& function, const ir::Encoding& from,
                          const ir::Encoding& to) {
    if (bytes_of(from.type) != bytes_of(to.type)) {
        throw std::logic_error("a table is between two encodings of one width");
    }
    if (bytes_of(to.type) == 2) return tabulate_wide(function, from, to);
    return tabulate(function, from, to);
}

}  // namespace systole::operators
