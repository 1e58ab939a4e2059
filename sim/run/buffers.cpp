#include "sim/run/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "hw/isa/program_error.h"

namespace systole::run {
namespace {

constexpr std::array types{DataType::Uint8, DataType::Int8, DataType::Int16, DataType::Int32};

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

/// "TYPE" or "TYPExCOLUMNS".
std::optional<BufferView> read_type(std::string_view text) {
    const std::size_t cross = text.find('x');
    const auto type = std::find_if(types.begin(), types.end(),
                                   [&](DataType each) { return name_of(each) == text.substr(0, cross); });
    if (type == types.end()) return std::nullopt;
    BufferView view{.buffer = nullptr, .type = *type, .columns = 0};
    if (cross == std::string_view::npos) return view;
    const std::string_view number = text.substr(cross + 1);
    const char* const end = number.data() + number.size();
    const auto [stopped, error] = std::from_chars(number.data(), end, view.columns);
    if (error != std::errc() || stopped != end || view.columns == 0) return std::nullopt;
    return view;
}

}  // namespace

BufferView find_view(const isa::Program& program, std::string_view text) {
    const auto fail = [&](const std::string& rule) {
        throw isa::ProgramError(fmt::format("print \"{}\": {}", text, rule));
    };
    BufferView view{.buffer = find_buffer(program, text), .type = DataType::Uint8, .columns = 0};
    if (view.buffer == nullptr) {  // the name of a buffer may itself contain a colon
        const std::size_t colon = text.rfind(':');
        const std::string_view name = text.substr(0, colon);
        const isa::HostBuffer* buffer = find_buffer(program, name);
        if (buffer == nullptr) {
            fail(fmt::format("there is no host buffer \"{}\"; there are: {}", name, names_of(program)));
        }
        const auto type = read_type(text.substr(colon + 1));
        if (!type) {
            fail(
                "after the colon it must have uint8, int8, int16 or int32, and may have columns, as in "
                "int8x4");
        }
        view = *type;
        view.buffer = buffer;
    }
    if (view.buffer->bytes % bytes_of(view.type) != 0) {
        fail(fmt::format("{} bytes are not a whole number of {}", view.buffer->bytes, name_of(view.type)));
    }
    return view;
}

BufferContents read_contents(const BufferView& view, std::span<const std::uint8_t> bytes) {
    const unsigned width = bytes_of(view.type);
    BufferContents contents{.name = view.buffer->name,
                            .type = std::string(name_of(view.type)),
                            .columns = view.columns,
                            .values = {}};
    contents.values.reserve(bytes.size() / width);
    for (std::size_t first = 0; first < bytes.size(); first += width) {
        std::int64_t value = 0;
        for (unsigned i = 0; i < width; ++i) value |= std::int64_t{bytes[first + i]} << (8 * i);
        const std::int64_t sign = std::int64_t{1} << (8 * width - 1);
        if (is_signed(view.type) && (value & sign) != 0) value -= 2 * sign;
        contents.values.push_back(value);
    }
    return contents;
}

}  // namespace systole::run
