#include "sim/run/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <vector>

#include "hw/isa/program_error.h"

namespace systole::run {
namespace {

constexpr std::array types{DataType::Uint8, DataType::Int8, DataType::Int16, DataType::Int32,
                           DataType::Float32};

const isa::HostBuffer* find_buffer(const isa::Program& program, std::string_view name) {
    const auto found = std::find_if(program.buffers.begin(), program.buffers.end(),
                                    [&](const isa::HostBuffer& buffer) { return buffer.name == name; });
    return found == program.buffers.end() ? nullptr : &*found;
}

std::string names_of(const isa::Program& program) {
    constexpr std::size_t most = 8;
    std::string names;
    for (std::size_t i = 0; i < std::min(most, program.buffers.size()); ++i) {
        names += fmt::format("{}{}", i == 0 ? "" : ", ", program.buffers[i].name);
    }
    if (program.buffers.size() > most) names += ", ...";
    return names.empty() ? "none" : names;
}

/// A number from `minimum` on, or nullopt.
std::optional<std::uint64_t> read_number(std::string_view text, std::uint64_t minimum) {
    const char* const end = text.data() + text.size();
    std::uint64_t value = 0;
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stopped != end || value < minimum) return std::nullopt;
    return value;
}

/// Sets type and columns from "TYPE" or "TYPExCOLUMNS"; false for another text.
bool read_type(std::string_view text, BufferView& view) {
    const std::size_t cross = text.find('x');
    const auto type = std::find_if(types.begin(), types.end(),
                                   [&](DataType each) { return name_of(each) == text.substr(0, cross); });
    if (type == types.end()) return false;
    view.type = *type;
    if (cross == std::string_view::npos) return true;
    const auto columns = read_number(text.substr(cross + 1), 1);
    view.columns = columns.value_or(0);
    return columns.has_value();
}

/// A memory of the chip as it is named in requests.
struct ChipMemory {
    isa::MemoryId memory;
    std::string prefix;
    std::string name;
    std::uint64_t rows = 0;
    std::uint64_t row_bytes = 0;
    DataType type = DataType::Uint8;  ///< unless the request says another one
    std::string_view unit = "row";
    std::string_view place = "ROW";
    std::size_t tile = 0;
};

/// One for each tile: "tile3".
std::vector<ChipMemory> narrow_memories(const machine::MachineConfig& machine) {
    std::vector<ChipMemory> memories;
    for (std::size_t tile = 0; tile < machine.tile_array.tiles(); ++tile) {
        memories.push_back({.memory = isa::MemoryId::NarrowMemory,
                            .prefix = fmt::format("tile{}", tile),
                            .name = fmt::format("the narrow memory of tile {}", tile),
                            .rows = machine.narrow_memory.bytes,
                            .row_bytes = 1,
                            .unit = "byte",
                            .place = "BYTE",
                            .tile = tile});
    }
    return memories;
}

/// Those whose rows a machine can show.
std::vector<ChipMemory> memories_of(const isa::Program& program, const machine::MachineConfig& machine) {
    switch (machine.family) {
        case machine::Family::TpuV1:
            return {{isa::MemoryId::UnifiedBuffer, "ub", "the unified buffer", machine.unified_buffer.rows,
                     machine.matrix_unit.rows},
                    {isa::MemoryId::Accumulators, "acc", "the accumulator memory", machine.accumulators.rows,
                     isa::row_bytes(isa::MemoryId::Accumulators, program.geometry), DataType::Int32}};
        case machine::Family::EdgeTpu:
            return narrow_memories(machine);
        case machine::Family::TensorCore: {
            const std::uint64_t row_bytes = machine.vector_row_bytes();
            return {{isa::MemoryId::VectorMemory, "vmem", "the vector memory", machine.vector_memory.rows,
                     row_bytes, DataType::Float32},
                    {isa::MemoryId::Hbm, "hbm", "the high-bandwidth memory", machine.hbm_rows_of_core(),
                     row_bytes, DataType::Float32}};
        }
    }
    throw std::logic_error("a family of machines without memories");
}

/// What a machine's memories are asked for by, for messages.
std::string places_of(const machine::MachineConfig& machine) {
    switch (machine.family) {
        case machine::Family::TpuV1:
            return "ub:ROW+ROWS and acc:ROW+ROWS show rows of the chip";
        case machine::Family::EdgeTpu:
            return fmt::format("tile0:BYTE+BYTES to tile{}:BYTE+BYTES show bytes of a tile",
                               machine.tile_array.tiles() - 1);
        case machine::Family::TensorCore:
            return "vmem:ROW+ROWS and hbm:ROW+ROWS show rows of the chip";
    }
    throw std::logic_error("a family of machines without memories");
}

/// The text of a request, for messages.
class Request {
public:
    explicit Request(std::string_view text) : text_(text) {}

    [[noreturn]] void fail(const std::string& rule) const {
        throw isa::ProgramError(fmt::format("print \"{}\": {}", text_, rule));
    }

    void set_type(std::string_view text, BufferView& view) const {
        if (read_type(text, view)) return;
        fail(
            "after the colon it must have uint8, int8, int16, int32 or float32, and may have columns, as in "
            "int8x4");
    }

    void check_whole(const BufferView& view, std::uint64_t bytes) const {
        if (bytes % bytes_of(view.type) == 0) return;
        fail(fmt::format("{} bytes are not a whole number of {}", bytes, name_of(view.type)));
    }

    /// "ROW", "ROW+ROWS", "ROW+ROWS:TYPE"; `rest` is the text behind the memory's name.
    BufferView chip_view(const ChipMemory& memory, std::string_view rest) const {
        const std::size_t colon = rest.find(':');
        const std::string_view range = rest.substr(0, colon);
        const std::size_t plus = range.find('+');
        const auto first = read_number(range.substr(0, plus), 0);
        const auto rows = plus == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                         : read_number(range.substr(plus + 1), 1);
        if (!first || !rows) {
            fail(fmt::format("{}: must have {} or {}+{}S behind it", memory.prefix, memory.place,
                             memory.place, memory.place));
        }
        if (*first >= memory.rows || *rows > memory.rows - *first) {
            fail(fmt::format("{} has {}s 0 to {}", memory.name, memory.unit, memory.rows - 1));
        }
        BufferView view{.memory = memory.memory,
                        .place = fmt::format("{}:{}", memory.prefix, range),
                        .first_row = *first,
                        .rows = *rows,
                        .tile = memory.tile,
                        .type = memory.type};
        if (colon != std::string_view::npos) set_type(rest.substr(colon + 1), view);
        if (memory.memory == isa::MemoryId::Accumulators && view.type != DataType::Int32)
            fail("accumulators are int32");
        check_whole(view, *rows * memory.row_bytes);
        return view;
    }

private:
    std::string_view text_;
};

}  // namespace

BufferView find_view(const isa::Program& program, const machine::MachineConfig& machine,
                     std::string_view text) {
    const Request request(text);
    BufferView view{.buffer = find_buffer(program, text)};
    if (view.buffer == nullptr) {  // the name of a buffer may itself contain a colon
        const std::size_t colon = text.rfind(':');
        const std::string_view name = text.substr(0, colon);
        view.buffer = find_buffer(program, name);
        if (view.buffer == nullptr) {
            const std::vector<ChipMemory> memories = memories_of(program, machine);
            const std::size_t first = text.find(':');
            for (const ChipMemory& memory : memories) {
                if (text.substr(0, first) != memory.prefix) continue;
                return request.chip_view(memory,
                                         first == std::string_view::npos ? "" : text.substr(first + 1));
            }
            request.fail(fmt::format("there is no host buffer \"{}\"; there are: {}; {}", name,
                                     names_of(program), places_of(machine)));
        }
        request.set_type(text.substr(colon + 1), view);
    }
    view.place = view.buffer->name;
    request.check_whole(view, view.buffer->bytes);
    return view;
}

BufferContents read_contents(const BufferView& view, std::span<const std::uint8_t> bytes) {
    const unsigned width = bytes_of(view.type);
    BufferContents contents{
        .name = view.place, .type = std::string(name_of(view.type)), .columns = view.columns, .values = {}};
    contents.values.reserve(bytes.size() / width);
    for (std::size_t first = 0; first < bytes.size(); first += width) {
        std::int64_t value = 0;
        for (unsigned i = 0; i < width; ++i) value |= std::int64_t{bytes[first + i]} << (8 * i);
        if (view.type == DataType::Float32) {
            contents.values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(value)));
            continue;
        }
        const std::int64_t sign = std::int64_t{1} << (8 * width - 1);
        if (is_signed(view.type) && (value & sign) != 0) value -= 2 * sign;
        contents.values.push_back(static_cast<double>(value));
    }
    return contents;
}

}  // namespace systole::run
