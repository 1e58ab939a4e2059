#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string_view>

#include "base/conversion.h"
#include "hw/isa/assembly.h"
#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/assembly/lexer.h"
#include "hw/isa/assembly/values.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"

namespace systole::isa {
namespace {

/// The word for the number format of a tensor; uint8 needs none.
std::string type_word(const BorderTensor& tensor) {
    switch (tensor.type) {
        case DataType::Uint8:
            return "";
        case DataType::Int8:
            return " signed";
        case DataType::Int16:
            return " wide";
        case DataType::Uint16:
        case DataType::Int32:
        case DataType::Bfloat16:
        case DataType::Float32:
        case DataType::Uint32:
        case DataType::Float16:
        case DataType::Bool:
            break;
    }
    return fmt::format(" type={}", name_of(tensor.type));
}

class Writer {
public:
    template <class... Arguments>
    void write(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    }

    /// Without the end of the line.
    void tensor(std::string_view directive, const BorderTensor& tensor) {
        write("{} {}", directive, as_word(tensor.name));
        std::string_view before = " shape=";
        for (const std::uint32_t size : tensor.shape) {
            write("{}{}", before, size);
            before = "x";
        }
        if (tensor.scale != 1.0) write(" scale={}", tensor.scale);
        if (tensor.zero_point != 0) write(" zero_point={}", tensor.zero_point);
        write("{}", type_word(tensor));
        if (tensor.conversion != Conversion::Nearest) write(" conversion={}", name_of(tensor.conversion));
        if (tensor.split_axis) write(" split={}", *tensor.split_axis);
    }

    void tensors(std::string_view directive, const std::vector<BorderTensor>& all) {
        for (const BorderTensor& each : all) {
            tensor(directive, each);
            write("\n");
        }
    }

    void resident(const ResidentTensor& resident) {
        write(".resident {} {}", resident_side_names.at(static_cast<std::size_t>(resident.side)),
              resident.number);
        for (const RowAxis& axis : resident.axes) write(" {} {}", axis.extent, axis.apart);
        write(" inferences={} hbm={} inference_rows={} panel_rows={} columns={}\n", resident.inferences,
              resident.first_row, resident.inference_rows, resident.panel_rows, resident.columns);
    }

    void arrays(const ArrayFiles& arrays) {
        write(".arrays");
        if (arrays.replicas != 1) write(" replicas={}", arrays.replicas);
        write("\n");
        for (const ConstantOutput& constant : arrays.constants) {
            tensor(fmt::format(".constant_output {}", constant.place), constant.tensor);
            text_ += values_text(constant.words, word_bytes, budget_);
        }
    }

    void network(const Program& program) {
        if (!program.model.empty() || program.batch != 0 || program.inferences != 0) {
            write(".model {}", as_word(program.model));
            if (program.batch != 0) write(" batch={}", program.batch);
            if (program.inferences != 0) write(" inferences={}", program.inferences);
            write("\n");
        }
        tensors(".input", program.inputs);
        tensors(".output", program.outputs);
        for (const StateTensors& state : program.state) write(".state {} {}\n", state.input, state.output);
        for (const ResidentTensor& each : program.residents) resident(each);
        if (program.arrays) arrays(*program.arrays);
        for (const HostOperation& operation : program.host_operations) {
            write(".host_operation {} {}\n", as_word(operation.kind), as_word(operation.layer));
        }
        for (const LayerInfo& layer : program.layers) {
            write(".layer {} {}", as_word(layer.name), as_word(layer.kind));
            if (layer.macs != 0) write(" macs={}", layer.macs);
            write("\n");
        }
    }

    void buffer(const HostBuffer& buffer) {
        write(".buffer {} {} {:#x} {}", as_word(buffer.name),
              buffer_kind_names()[static_cast<std::size_t>(buffer.kind)], buffer.address, buffer.bytes);
        if (buffer.padding > 0) write(" padding={}", buffer.padding);
        text_ += buffer.kind == BufferKind::Constant ? values_text(buffer.contents, 1, budget_) : "\n";
    }

    void host_segment(const HostSegment& segment, const std::vector<HostBuffer>& buffers) {
        write(".host_segment {}", as_word(segment.name));
        if (segment.operations != 0) write(" operations={}", segment.operations);
        if (segment.bytes != 0) write(" bytes={}", segment.bytes);
        if (segment.constant_bytes != 0) write(" constant_bytes={}", segment.constant_bytes);
        write("\n");
        for (std::size_t i = 0; i < segment.layers.size(); ++i) {
            write(".computes {}", as_word(segment.layers[i]));
            if (!segment.macs.empty() && segment.macs[i] != 0) write(" macs={}", segment.macs[i]);
            write("\n");
        }
        for (const SegmentTensor& tensor : segment.reads) {
            write(".reads {} {}\n", as_word(buffers[tensor.buffer].name), tensor.bytes);
        }
        for (const SegmentTensor& tensor : segment.writes) {
            write(".writes {} {}\n", as_word(buffers[tensor.buffer].name), tensor.bytes);
        }
        for (std::string_view rest = segment.graph; !rest.empty();) {
            const std::size_t end = rest.find('\n');
            write(".graph {}\n", isa::quoted(rest.substr(0, end)));
            rest.remove_prefix(end + 1);
        }
    }

    void chain(const Chain& chain) {
        write(".chain {}\n", as_word(chain.name));
        for (const ChainSource& source : chain.sources) {
            write(".source {}{}\n", spread_names()[static_cast<std::size_t>(source.spread)],
                  source.packed ? " packed" : "");
        }
        for (const ChainStep& step : chain.steps) {
            write(".step {}", traits_of(step.operation).name);
            if (step.operation == WordOperation::Constant) write(" {:#x}", step.constant);
            for (const std::uint8_t operand : step.operands) write(" {}", operand);
            write("\n");
        }
        for (const ChainResult& result : chain.results) {
            write(".result {}{}\n", result.value, result.packed ? " packed" : "");
        }
    }

    void initial_rows(const Program& program) {
        for (const InitialRows& initial : program.initial[MemoryId::UnifiedBuffer]) {
            write(".unified_buffer {} {}", initial.first_row, initial.values.size());
            text_ += values_text(initial.values, 1, budget_);
        }
        for (const InitialRows& initial : program.initial[MemoryId::Accumulators]) {
            write(".accumulators {} {}", initial.first_row,
                  rows_of(initial, MemoryId::Accumulators, program.geometry).count());
            text_ += values_text(initial.values, sizeof(std::int32_t), budget_);
        }
        for (const InitialRows& initial : program.initial[MemoryId::Hbm]) {
            write(".hbm {} {}", initial.first_row, initial.values.size());
            text_ += values_text(initial.values, 1, budget_);
        }
    }

    void tile(const WeightTile& tile) {
        write(".tile {} {}", tile.rows, tile.columns);
        if (!tile.block_macs.empty()) {
            write(" block={}", fmt::join(tile.block_macs, ","));  // their sum is `useful`
        } else if (tile.useful_macs != tile.rows * tile.columns) {
            write(" useful={}", tile.useful_macs);
        }
        if (tile.type != DataType::Int8) write(" bytes={}", bytes_of(tile.type));
        text_ += values_text(tile.values, bytes_of(tile.type), budget_);
    }

    void instruction(const Instruction& instruction, const HostLabels& labels,
                     const std::vector<LayerInfo>& layers) {
        text_ += instruction_text(instruction, labels);
        const auto* tag = std::get_if<DebugTag>(&instruction);
        if (tag != nullptr && tag->tag != 0 && !layers.empty()) {
            write("  # {}", as_word(layers.at(tag->tag - 1U).name));
        }
        text_ += '\n';
    }

    std::string take() { return std::move(text_); }

private:
    std::string text_;
    GenerationBudget budget_;
};

}  // namespace

std::string disassemble(const Program& program) {
    validate(program);
    Writer writer;
    const Geometry& geometry = program.geometry;
    if (geometry.has_tiles()) {
        writer.write(".tiles {} {} lanes={} units={}\n", geometry.tiles.lines, geometry.tiles.columns,
                     geometry.tiles.lanes, geometry.tiles.units);
    } else if (geometry.has_tensor_core()) {
        writer.write(".tensor_core {} {} lanes={}", geometry.rows, geometry.columns, geometry.tensor.lanes);
        if (geometry.tensor.cores > 0) writer.write(" cores={}", geometry.tensor.cores);
        writer.write("\n");
    } else {
        writer.write(".array {} {}\n", geometry.rows, geometry.columns);
    }
    writer.network(program);
    for (const HostBuffer& buffer : program.buffers) writer.buffer(buffer);
    for (const HostSegment& segment : program.host_segments) writer.host_segment(segment, program.buffers);
    for (const WeightTile& tile : program.tiles) writer.tile(tile);
    for (const Chain& chain : program.chains) writer.chain(chain);
    writer.initial_rows(program);
    writer.write("\n");
    const HostLabels labels(program.buffers);
    for (const Instruction& instruction : program.instructions) {
        writer.instruction(instruction, labels, program.layers);
    }
    return writer.take();
}

std::vector<std::string> instruction_texts(const Program& program) {
    const HostLabels labels(program.buffers);
    std::vector<std::string> texts;
    texts.reserve(program.instructions.size());
    for (const Instruction& instruction : program.instructions) {
        texts.push_back(instruction_text(instruction, labels));
    }
    return texts;
}

}  // namespace systole::isa
