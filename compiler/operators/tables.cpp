#include "compiler/operators/tables.h"

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace systole::operators {
namespace {

constexpr std::uint32_t byte_entries = 256;
constexpr std::int32_t wide_step = 128;
constexpr std::uint32_t wide_entries = 65536 / wide_step + 1;

/// The entries of the stored numbers first, first + step, and so on.
template <typename Entry>
ir::Constant tabulate(const std::function<float(float)>& function, const ir::Encoding& from,
                      const ir::Encoding& to, std::int32_t first, std::int32_t step) {
    std::vector<Entry> table(table_entries(to.type));
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::int32_t stored = first + static_cast<std::int32_t>(i) * step;
        table[i] = static_cast<Entry>(to.stored(function(static_cast<float>(from.real(stored)))));
    }
    return ir::Constant::of(std::move(table));
}

}  // namespace

std::uint32_t table_entries(DataType type) {
    return bytes_of(type) == 2 ? wide_entries : byte_entries;
}

ir::Constant make_table(const std::function<float(float)>& function, const ir::Encoding& from,
                        const ir::Encoding& to) {
    if (bytes_of(from.type) != bytes_of(to.type)) {
        throw std::logic_error("a table is between two encodings of one width");
    }
    if (bytes_of(to.type) == 2) {
        return tabulate<std::int16_t>(function, from, to, lowest_of(from.type), wide_step);
    }
    // Bytes index the table by their bits, as numbers from 0 on.
    if (is_signed(to.type)) return tabulate<std::int8_t>(function, from, to, 0, 1);
    return tabulate<std::uint8_t>(function, from, to, 0, 1);
}

}  // namespace systole::operators
