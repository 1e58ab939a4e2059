#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/conversion.h"
#include "base/whole_file.h"
#include "hw/isa/encoding.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_file.h"
#include "hw/isa/program_rules.h"

namespace systole::isa {
namespace {

class ByteWriter {
public:
    void number(std::uint64_t value, unsigned size) {
        for (unsigned i = 0; i < size; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    void count(std::size_t value) {
        if (value > UINT32_MAX)
            throw ProgramError(fmt::format("{} of a kind; a file holds {}", value, UINT32_MAX));
        number(value, 4);
    }
    void string(const std::string& text) {
        count(text.size());
        append(text);
    }
    template <class Range>
    void append(const Range& range) {
        const std::size_t end = bytes_.size();
        bytes_.resize(end + range.size());
        std::copy(range.begin(), range.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(end));
    }

    /// Begins a section; its length is written when the section ends.
    void begin_section(const file_format::Tag& tag) {
        append(tag);
        number(0, 8);
        section_ = bytes_.size();
    }
    void end_section() {
        const std::uint64_t length = bytes_.size() - section_;
        for (unsigned i = 0; i < 8; ++i)
            bytes_[section_ - 8 + i] = static_cast<std::uint8_t>(length >> (8 * i));
    }

    std::vector<std::uint8_t>& bytes() { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;
    std::size_t section_ = 0;
};

void write_tensor(ByteWriter& writer, const BorderTensor& tensor) {
    writer.string(tensor.name);
    writer.count(tensor.shape.size());
    for (const std::uint32_t size : tensor.shape) writer.number(size, 4);
    writer.number(std::bit_cast<std::uint64_t>(tensor.scale), 8);
    writer.number(static_cast<std::uint32_t>(tensor.zero_point), 4);
    writer.number(static_cast<std::uint8_t>(tensor.type), 1);
}

void write_tensors(ByteWriter& writer, const std::vector<BorderTensor>& tensors) {
    writer.count(tensors.size());
    for (const BorderTensor& tensor : tensors) write_tensor(writer, tensor);
}

void write_network(ByteWriter& writer, const Program& program) {
    writer.string(program.model);
    writer.number(program.batch, 4);
    writer.number(program.inferences, 8);
    write_tensors(writer, program.inputs);
    write_tensors(writer, program.outputs);
    writer.count(program.host_operations.size());
    for (const HostOperation& operation : program.host_operations) {
        writer.string(operation.kind);
        writer.string(operation.layer);
    }
    writer.count(program.layers.size());
    for (const LayerInfo& layer : program.layers) {
        writer.string(layer.name);
        writer.string(layer.kind);
        writer.number(layer.macs, 8);
    }
}

/// Axes are counted from 1; 0: all replicas have the same array.
void write_split_axes(ByteWriter& writer, const std::vector<BorderTensor>& tensors) {
    for (const BorderTensor& tensor : tensors)
        writer.number(tensor.split_axis ? *tensor.split_axis + 1 : 0, 4);
}

void write_arrays(ByteWriter& writer, const Program& program) {
    writer.begin_section(file_format::arrays_section);
    writer.number(program.arrays ? program.arrays->replicas : 0, 4);
    if (!program.arrays) return writer.end_section();
    write_split_axes(writer, program.inputs);
    write_split_axes(writer, program.outputs);
    writer.count(program.arrays->constants.size());
    for (const ConstantOutput& constant : program.arrays->constants) {
        writer.number(constant.place, 4);
        write_tensor(writer, constant.tensor);
        writer.number(constant.words.size(), 8);
        writer.append(constant.words);
    }
    writer.end_section();
}

void write_residents(ByteWriter& writer, const std::vector<ResidentTensor>& residents) {
    writer.begin_section(file_format::resident_section);
    writer.count(residents.size());
    for (const ResidentTensor& resident : residents) {
        writer.number(static_cast<std::uint8_t>(resident.side), 1);
        for (const std::uint32_t number : {resident.number, resident.inferences, resident.first_row,
                                           resident.inference_rows, resident.panel_rows, resident.columns}) {
            writer.number(number, 4);
        }
        writer.count(resident.axes.size());
        for (const RowAxis& axis : resident.axes) {
            writer.number(axis.extent, 4);
            writer.number(axis.apart, 4);
        }
    }
    writer.end_section();
}

void write_buffers(ByteWriter& writer, const std::vector<HostBuffer>& buffers) {
    writer.count(buffers.size());
    for (const HostBuffer& buffer : buffers) {
        writer.string(buffer.name);
        writer.number(static_cast<std::uint8_t>(buffer.kind), 1);
        writer.number(buffer.address, 8);
        writer.number(buffer.bytes, 8);
        writer.append(buffer.contents);
    }
}

void write_tiles(ByteWriter& writer, const std::vector<WeightTile>& tiles) {
    writer.count(tiles.size());
    for (const WeightTile& tile : tiles) {
        writer.number(tile.rows, 4);
        writer.number(tile.columns, 4);
        writer.number(bytes_of(tile.type), 1);
        writer.number(tile.useful_macs, 4);
        writer.append(tile.values);
    }
}

void write_initial_rows(ByteWriter& writer, const std::vector<InitialRows>& all) {
    writer.count(all.size());
    for (const InitialRows& initial : all) {
        writer.number(initial.first_row, 4);
        writer.number(initial.values.size(), 8);
        writer.append(initial.values);
    }
}

void write_segment_tensors(ByteWriter& writer, const std::vector<SegmentTensor>& tensors) {
    writer.count(tensors.size());
    for (const SegmentTensor& tensor : tensors) {
        writer.number(tensor.buffer, 4);
        writer.number(tensor.bytes, 8);
    }
}

void write_host_segments(ByteWriter& writer, const std::vector<HostSegment>& segments) {
    writer.count(segments.size());
    for (const HostSegment& segment : segments) {
        writer.string(segment.name);
        writer.count(segment.layers.size());
        for (const std::string& layer : segment.layers) writer.string(layer);
        writer.number(segment.operations, 8);
        writer.number(segment.bytes, 8);
        writer.number(segment.constant_bytes, 8);
        write_segment_tensors(writer, segment.reads);
        write_segment_tensors(writer, segment.writes);
        writer.string(segment.graph);
    }
}

void write_blocks(ByteWriter& writer, const std::vector<WeightTile>& tiles) {
    writer.count(tiles.size());
    for (const WeightTile& tile : tiles) {
        writer.count(tile.block_macs.size());
        for (const std::uint32_t macs : tile.block_macs) writer.number(macs, 4);
    }
}

void write_host_macs(ByteWriter& writer, const std::vector<HostSegment>& segments) {
    writer.count(segments.size());
    for (const HostSegment& segment : segments) {
        writer.count(segment.macs.size());
        for (const std::uint64_t macs : segment.macs) writer.number(macs, 8);
    }
}

void write_conversions(ByteWriter& writer, const std::vector<BorderTensor>& inputs) {
    writer.count(inputs.size());
    for (const BorderTensor& input : inputs) writer.number(static_cast<std::uint8_t>(input.conversion), 1);
}

void write_chains(ByteWriter& writer, const std::vector<Chain>& chains) {
    writer.count(chains.size());
    for (const Chain& chain : chains) {
        writer.string(chain.name);
        writer.count(chain.sources.size());
        for (const ChainSource& source : chain.sources) {
            writer.number(static_cast<std::uint8_t>(source.spread), 1);
            writer.number(source.packed ? 1 : 0, 1);
        }
        writer.count(chain.steps.size());
        for (const ChainStep& step : chain.steps) {
            writer.number(static_cast<std::uint8_t>(step.operation), 1);
            for (const std::uint8_t operand : step.operands) writer.number(operand, 1);
            if (step.operation == WordOperation::Constant) writer.number(step.constant, 4);
        }
        writer.count(chain.results.size());
        for (const ChainResult& result : chain.results) {
            writer.number(result.value, 1);
            writer.number(result.packed ? 1 : 0, 1);
        }
    }
}

std::vector<std::uint8_t> content_of(const Program& program) {
    ByteWriter writer;
    writer.begin_section(file_format::array_section);
    writer.number(program.geometry.rows, 4);
    writer.number(program.geometry.columns, 4);
    writer.end_section();
    writer.begin_section(file_format::network_section);
    write_network(writer, program);
    writer.end_section();
    writer.begin_section(file_format::buffer_section);
    write_buffers(writer, program.buffers);
    writer.end_section();
    writer.begin_section(file_format::tile_section);
    write_tiles(writer, program.tiles);
    writer.end_section();
    writer.begin_section(file_format::code_section);
    writer.count(program.instructions.size());
    for (const Instruction& instruction : program.instructions) encode(instruction, writer.bytes());
    writer.end_section();
    const std::uint32_t version = file_format::version_of(program);
    if (version >= file_format::version_with_rows) {
        writer.begin_section(file_format::rows_section);
        for (const MemoryId memory : file_format::rows_section_memories) {
            write_initial_rows(writer, program.initial[memory]);
        }
        writer.end_section();
    }
    if (version >= file_format::version_with_host) {
        writer.begin_section(file_format::host_section);
        write_host_segments(writer, program.host_segments);
        writer.end_section();
    }
    if (version >= file_format::version_with_blocks) {
        writer.begin_section(file_format::block_section);
        write_blocks(writer, program.tiles);
        writer.end_section();
    }
    if (version >= file_format::version_with_host_macs) {
        writer.begin_section(file_format::host_macs_section);
        write_host_macs(writer, program.host_segments);
        writer.end_section();
    }
    if (version >= file_format::version_with_conversions) {
        writer.begin_section(file_format::conversion_section);
        write_conversions(writer, program.inputs);
        writer.end_section();
    }
    if (version == file_format::version_with_tiles) {
        writer.begin_section(file_format::grid_section);
        const TileGrid& grid = program.geometry.tiles;
        for (const std::uint32_t size : {grid.lines, grid.columns, grid.lanes, grid.units})
            writer.number(size, 4);
        writer.end_section();
    }
    if (version >= file_format::version_with_tensor_core) {
        writer.begin_section(file_format::core_section);
        writer.number(program.geometry.tensor.lanes, 4);
        writer.number(program.geometry.tensor.cores, 4);
        write_chains(writer, program.chains);
        write_initial_rows(writer, program.initial[MemoryId::Hbm]);
        for (const HostBuffer& buffer : program.buffers) writer.number(buffer.padding, 8);
        writer.end_section();
    }
    if (version >= file_format::version_with_state) {
        writer.begin_section(file_format::state_section);
        writer.count(program.state.size());
        for (const StateTensors& state : program.state) {
            writer.number(state.input, 4);
            writer.number(state.output, 4);
        }
        writer.end_section();
    }
    if (version >= file_format::version_with_arrays) write_arrays(writer, program);
    if (version >= file_format::version_with_residents) write_residents(writer, program.residents);
    return std::move(writer.bytes());
}

std::vector<std::uint8_t> header_of(const Program& program, const std::vector<std::uint8_t>& content) {
    ByteWriter header;
    header.append(file_format::magic);
    header.number(file_format::version_of(program), 4);
    header.number(crc32_z(0, content.data(), content.size()), 4);
    header.number(content.size(), 8);
    return std::move(header.bytes());
}

std::string_view text_of(const std::vector<std::uint8_t>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::uint32_t file_format::version_of(const Program& program) {
    if (program.geometry.has_tiles()) return version_with_tiles;
    if (program.geometry.has_tensor_core()) {
        if (!program.residents.empty()) return version_with_residents;
        if (program.arrays) return version_with_arrays;
        return program.state.empty() ? version_with_tensor_core : version_with_state;
    }
    if (std::ranges::any_of(program.inputs, [](const BorderTensor& input) {
            return input.conversion != Conversion::Nearest;
        })) {
        return version_with_conversions;
    }
    if (std::ranges::any_of(program.host_segments,
                            [](const HostSegment& segment) { return !segment.macs.empty(); })) {
        return version_with_host_macs;
    }
    if (std::ranges::any_of(program.tiles, [](const WeightTile& tile) { return !tile.block_macs.empty(); })) {
        return version_with_blocks;
    }
    const auto is_new_type = [](const BorderTensor& tensor) { return tensor.type > DataType::Int16; };
    if (!program.host_segments.empty() || std::ranges::any_of(program.inputs, is_new_type) ||
        std::ranges::any_of(program.outputs, is_new_type) ||
        std::ranges::any_of(program.buffers,
                            [](const HostBuffer& buffer) { return buffer.kind == BufferKind::Exchange; })) {
        return version_with_host;
    }
    return has_initial_rows(program) ? version_with_rows : version;
}

void write_program(const Program& program, std::ostream& stream) {
    validate(program);
    const std::vector<std::uint8_t> content = content_of(program);
    stream << text_of(header_of(program, content)) << text_of(content);
    if (!stream) throw ProgramError("the program file cannot be written");
}

void write_program(const Program& program, const std::filesystem::path& path) {
    try {
        validate(program);
    } catch (const ProgramError& error) {
        throw ProgramError(fmt::format("{}: {}", path.string(), error.what()));
    }
    WholeFile file(path);
    const std::vector<std::uint8_t> content = content_of(program);
    file.write(text_of(header_of(program, content)));
    file.write(text_of(content));
    file.commit();
}

}  // namespace systole::isa
