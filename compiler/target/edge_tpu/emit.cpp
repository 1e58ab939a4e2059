#include "compiler/target/edge_tpu/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/emit/instruction_stream.h"
#include "compiler/emit/synchronize.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/host_segments.h"
#include "compiler/target/edge_tpu/instructions.h"
#include "hw/isa/fields.h"
#include "hw/timing/tiles.h"

namespace systole::edge_tpu {
namespace {

using ir::ValueId;
using isa::Register;

constexpr std::uint64_t alignment = 64;
/// With which a call waits until the one before it is over; emit::semaphore_of gives no such number.
constexpr std::uint8_t call_semaphore = 127;

/// [height, width, channels] of an image; of any other value its extents, without a first one of 1.
std::vector<std::uint32_t> shape_of_inference(const ir::Shape& shape) {
    if (ir::is_feature_map(shape)) {
        const ir::FeatureMap map = ir::feature_map(shape);
        return {map.height, map.width, map.channels};
    }
    const auto extents = shape.extents();
    std::vector<std::uint32_t> kept(extents.begin(), extents.end());
    if (kept.size() > 1 && kept.front() == 1) kept.erase(kept.begin());
    if (kept.empty()) kept.push_back(1);  // a number
    return kept;
}

isa::BorderTensor border_tensor(const ir::Value& value) {
    isa::BorderTensor tensor{.name = value.name,
                             .shape = shape_of_inference(value.shape),
                             .type = value.type,
                             .conversion = value.conversion};
    if (value.quantization && value.quantization->scales.size() == 1) {
        tensor.scale = value.quantization->scales.front();
        tensor.zero_point = value.quantization->zero_points.front();
    }
    return tensor;
}

std::uint64_t bytes_of_inference(const ir::Value& value) {
    return value.shape.elements() * bytes_of(value.type);
}

/// Values in host memory, each for all inferences.
class HostValues {
public:
    HostValues(const Network& network, std::uint64_t first_address, std::uint64_t inferences)
        : graph_(*network.graph), inferences_(inferences), end_(first_address) {
        const ir::Graph& graph = graph_;
        for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
            add(graph.inputs[i], isa::BufferKind::Input, border_name("input", graph.inputs, i));
        }
        // Behind the program, the host computes on what it has written as its only output.
        const bool has_end = !network.host.at_end.empty();
        for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
            const ValueId value = has_end ? operators::program_output(graph) : graph.outputs[i];
            add(value, isa::BufferKind::Output, border_name("output", graph.outputs, i));
        }
        for (const operators::SegmentGraph& segment : network.segments) {
            for (const auto* values : {&segment.inputs, &segment.outputs}) {
                for (const ValueId value : *values) {
                    if (!places_.contains(value)) {
                        add(value, isa::BufferKind::Exchange, "exchange." + graph.values[value].name);
                    }
                }
            }
        }
    }

    std::uint32_t buffer_of(ValueId value) const { return places_.at(value); }
    std::uint64_t address_of(ValueId value, std::uint64_t inference) const {
        return buffers_[places_.at(value)].address + inference * bytes_of_inference(graph_.values[value]);
    }
    const std::vector<isa::HostBuffer>& buffers() const { return buffers_; }

private:
    std::string border_name(const char* side, const std::vector<ValueId>& all, std::size_t i) const {
        return all.size() == 1 ? side : fmt::format("{}.{}", side, graph_.values[all[i]].name);
    }

    void add(ValueId value, isa::BufferKind kind, const std::string& wanted) {
        if (places_.contains(value)) {
            throw ModelError(fmt::format("{}: {} is both an input and an output, or twice one of them",
                                         graph_.name, graph_.values[value].name));
        }
        std::string name = wanted;
        for (int number = 2; !names_.insert(name).second; ++number)
            name = fmt::format("{}.{}", wanted, number);
        const std::uint64_t address = round_up(end_, alignment);
        const std::uint64_t each = bytes_of_inference(graph_.values[value]);
        if (address > isa::host_memory_limit || inferences_ > (isa::host_memory_limit - address) / each) {
            throw ModelError(fmt::format("{}: {} inferences take more than the host's {} bytes", graph_.name,
                                         inferences_, isa::host_memory_limit));
        }
        places_.emplace(value, static_cast<std::uint32_t>(buffers_.size()));
        buffers_.push_back(
            {.name = std::move(name), .kind = kind, .address = address, .bytes = inferences_ * each});
        end_ = address + inferences_ * each;
    }

    const ir::Graph& graph_;
    const std::uint64_t inferences_;
    std::uint64_t end_;
    std::vector<isa::HostBuffer> buffers_;
    std::map<ValueId, std::uint32_t> places_;
    std::set<std::string> names_{"parameters"};
};

class Emitter {
public:
    Emitter(const Network& network, const ParameterPlan& plan, const machine::MachineConfig& machine,
            const HostValues& host)
        : network_(network),
          plan_(plan),
          grid_(timing::grid_of(machine)),
          pixels_(machine.tile_array.pixels),
          program_bytes_(program_bytes(network, machine)),
          host_(host) {}

    std::vector<isa::Instruction> emit(std::uint64_t inferences) {
        for (std::uint64_t inference = 0; inference < inferences; ++inference) call(inference);
        stream_.append(isa::Halt{});
        return stream_.take();
    }

private:
    void set(const RegisterValues& values) {
        for (const RegisterValue& each : values) {
            if (each.of_network) {
                stream_.set_value(each.reg, static_cast<std::int32_t>(each.value));
            } else {
                stream_.set(each.reg, each.value);
            }
        }
    }

    void call(std::uint64_t inference) {
        stream_.tag(0);
        stream_.append(isa::ReadProgram{.bytes = static_cast<std::uint32_t>(program_bytes_)});
        if (inference == 0) load_parameters();
        for (const Border& read : network_.reads) {
            RegisterValues values;
            add_result(network_, read.part, values);
            set(values);
            stream_.append(isa::ReadTensor{.host_address = host_.address_of(read.value, inference),
                                           .address = address_of(network_, read.part)});
        }
        exchanged_.clear();
        for (std::size_t i = 0; i < network_.steps.size(); ++i) step(i);
        stream_.tag(0);
        for (const Border& write : network_.writes) {
            RegisterValues values;
            add_source(network_, write.part, values);
            set(values);
            stream_.append(isa::WriteTensor{.host_address = host_.address_of(write.value, inference),
                                            .address = address_of(network_, write.part),
                                            .over_lanes = form_of(write.part) == Form::OverLanes});
        }
        for (std::size_t i = 0; i < network_.segments.size(); ++i) {
            stream_.append(isa::HostWork{.segment = static_cast<std::uint16_t>(i),
                                         .first_inference = static_cast<std::uint32_t>(inference),
                                         .images = 1});
        }
        stream_.append(isa::InterruptHost{});
    }

    void load_parameters() {
        for (const auto& table : plan_.tables) {
            if (!table || table->is_again) continue;
            stream_.append(isa::ReadParameters{.host_address = table->host_address,
                                               .unit = table->unit * grid_.tiles(),
                                               .units = table->units * grid_.tiles()});
        }
        for (const auto& place : plan_.places) {
            if (!place || !place->cached || place->is_again) continue;
            const bool is_dense = place->product.multiply.product == isa::TileProduct::Dense;
            const std::uint64_t first = is_dense ? place->unit * grid_.tiles() : place->unit;
            stream_.append(isa::ReadParameters{.host_address = place->host_address,
                                               .unit = static_cast<std::uint32_t>(first),
                                               .units = static_cast<std::uint32_t>(place->units)});
        }
    }

    Form form_of(const Part& part) const { return network_.tensors[part.tensor].form; }

    void step(std::size_t index) {
        const Step& step = network_.steps[index];
        stream_.tag(static_cast<std::uint16_t>(step.layer + 1));
        if (index == 0 || network_.steps[index - 1].layer != step.layer) stream_.begin_layer();
        if (step.reads_around() || step.with_margins) exchange(step.source);
        if (step.other && step.with_margins) exchange(*step.other);
        exchanged_.erase(step.result.tensor);
        switch (step.kind) {
            case StepKind::Multiply:
                return multiply(*plan_.places[index]);
            case StepKind::Vector: {
                VectorInstruction made = vector_of(network_, step);
                if (plan_.tables[index]) made.vector.other = plan_.tables[index]->unit;
                set(made.registers);
                return stream_.append(made.vector);
            }
            case StepKind::Move: {
                const MoveInstruction made = move_of(network_, step);
                set(made.registers);
                return stream_.append(made.move);
            }
            case StepKind::Permute: {
                const PermuteInstruction made = permute_of(network_, step);
                set(made.registers);
                return stream_.append(made.permute);
            }
            case StepKind::Read: {
                RegisterValues values;
                add_result(network_, step.result, values);
                set(values);
                return stream_.append(isa::ReadTensor{.host_address = plan_.constants[index]->host_address,
                                                      .address = address_of(network_, step.result)});
            }
            case StepKind::Collect: {
                RegisterValues values;
                add_source(network_, step.source, values);
                set(values);
                return stream_.append(isa::Collect{.destination = address_of(network_, step.result),
                                                   .source = address_of(network_, step.source),
                                                   .over_lanes = form_of(step.source) == Form::OverLanes});
            }
        }
    }

    /// Fills the margins of a tensor: all of it, whatever part is read, and again after another part of it
    /// has been written.
    void exchange(const Part& part) {
        const Tensor& tensor = network_.tensors[part.tensor];
        if (tensor.form != Form::Image || !tensor.reaches_out) return;
        const Part whole{.tensor = part.tensor, .first_channel = 0, .shape = tensor.shape};
        if (!exchanged_.insert(part.tensor).second) return;
        RegisterValues values;
        add_source(network_, whole, values);
        set(values);
        stream_.set_value(Register::WindowPadValue, static_cast<std::uint8_t>(tensor.zero_point));
        stream_.append(isa::Exchange{.address = tensor.address});
    }

    void multiply(const ParameterPlace& place) {
        set(place.product.registers);
        isa::TileMultiply multiply = place.product.multiply;
        const isa::WeightBlocks& blocks = place.product.blocks;
        multiply.streamed = !place.cached;
        multiply.parameters = place.cached ? place.unit : place.host_address;
        if (multiply.product != isa::TileProduct::Dense) {
            isa::Registers registers;
            for (const RegisterValue& each : place.product.registers) registers.set(each.reg, each.value);
            const isa::TileLayout result =
                isa::tile_layout(registers, isa::result_registers, grid_, multiply.result);
            const isa::Multicast sent{.parameters = multiply.parameters,
                                      .rows = static_cast<std::uint32_t>(blocks.rows()),
                                      .units = static_cast<std::uint8_t>(blocks.row_units()),
                                      .groups = static_cast<std::uint16_t>(blocks.groups),
                                      .repeats = static_cast<std::uint32_t>(divide_up(
                                          timing::area_of(result, multiply.with_margins).pixels(), pixels_)),
                                      .streamed = multiply.streamed};
            if (multiply.streamed) {
                stream_.append(isa::StreamParameters{.host_address = multiply.parameters,
                                                     .rows = sent.rows,
                                                     .units = sent.units,
                                                     .groups = sent.groups,
                                                     .repeats = sent.repeats});
            }
            stream_.append(sent);
        }
        stream_.append(multiply);
    }

    const Network& network_;
    const ParameterPlan& plan_;
    const isa::TileGrid grid_;
    const std::uint64_t pixels_;
    const std::uint64_t program_bytes_;
    const HostValues& host_;
    emit::InstructionStream stream_;
    std::set<TensorId> exchanged_;  ///< in this call, and not written since
};

/// A call begins when the one before it is over: its results are in host memory, and so are the host's.
std::vector<isa::Instruction> one_after_the_other(const std::vector<isa::Instruction>& code, bool on_host) {
    const isa::QueueId last = on_host ? isa::QueueId::Host : isa::QueueId::HostWrite;
    std::vector<isa::Instruction> ordered;
    ordered.reserve(code.size());
    bool is_first = true;
    for (const isa::Instruction& instruction : code) {
        if (std::holds_alternative<isa::ReadProgram>(instruction) && !std::exchange(is_first, false)) {
            ordered.emplace_back(isa::SyncSignal{last, call_semaphore});
            ordered.emplace_back(isa::SyncWait{isa::QueueId::HostRead, call_semaphore});
        }
        ordered.push_back(instruction);
    }
    return ordered;
}

std::vector<isa::HostSegment> host_segments(const Network& network, const HostValues& host) {
    const ir::Graph& graph = *network.graph;
    std::vector<isa::HostSegment> segments;
    for (std::size_t i = 0; i < network.segments.size(); ++i) {
        const operators::SegmentGraph& cut = network.segments[i];
        const operators::SegmentCost cost = operators::segment_cost(cut.graph);
        isa::HostSegment& segment = segments.emplace_back();
        segment.operations = cost.operations;
        segment.bytes = cost.bytes;
        segment.constant_bytes = cost.constant_bytes;
        segment.graph = ir::to_text(cut.graph);
        for (const ir::NodeId id : network.host.segments[i]) {
            const ir::Node& node = graph.nodes[id];
            const std::uint64_t macs = node.op->macs({graph, node});
            const auto found = std::ranges::find(segment.layers, node.name);
            if (found == segment.layers.end()) {
                segment.layers.push_back(node.name);
                segment.macs.push_back(macs);
            } else {
                segment.macs[static_cast<std::size_t>(found - segment.layers.begin())] += macs;
            }
        }
        if (std::ranges::all_of(segment.macs, [](std::uint64_t macs) { return macs == 0; }))
            segment.macs.clear();
        segment.name = cut.name;
        const auto tensors = [&](const std::vector<ValueId>& values) {
            std::vector<isa::SegmentTensor> all;
            all.reserve(values.size());
            for (const ValueId value : values) {
                all.push_back(
                    {.buffer = 1 + host.buffer_of(value), .bytes = bytes_of_inference(graph.values[value])});
            }
            return all;
        };
        segment.reads = tensors(cut.inputs);
        segment.writes = tensors(cut.outputs);
    }
    return segments;
}

}  // namespace

std::uint64_t program_bytes(const Network& network, const machine::MachineConfig& machine) {
    const machine::ProgramConfig& program = machine.program;
    if (program.bytes > 0) return program.bytes;
    std::set<std::uint32_t> layers;
    for (const Step& step : network.steps) layers.insert(step.layer);
    const bool classifies = std::ranges::any_of(network.graph->nodes, [](const ir::Node& node) {
        return node.is("softmax") || node.is("integer_softmax");
    });
    return std::max<std::uint64_t>(
        layers.size() * program.bytes_per_layer + (classifies ? program.classifier_bytes : 0), 1);
}

isa::Program emit_program(const Network& network, const ParameterPlan& plan,
                          const machine::MachineConfig& machine, std::uint64_t inferences) {
    const ir::Graph& graph = *network.graph;
    const isa::TileGrid grid = timing::grid_of(machine);
    const HostValues host(network, plan.host_bytes, inferences);
    isa::Program program;
    program.geometry.tiles = grid;
    program.buffers.push_back({.name = "parameters",
                               .kind = isa::BufferKind::Constant,
                               .address = 0,
                               .bytes = plan.host_bytes,
                               .contents = parameter_bytes(network, plan)});
    if (plan.host_bytes == 0) {  // a network without weights
        program.buffers.back() = {.name = "parameters",
                                  .kind = isa::BufferKind::Exchange,
                                  .address = isa::host_memory_limit - 1,
                                  .bytes = 1};
    }
    program.buffers.insert(program.buffers.end(), host.buffers().begin(), host.buffers().end());
    program.host_segments = host_segments(network, host);
    program.model = graph.name;
    program.batch = 1;
    program.inferences = inferences;
    for (const Layer& layer : network.layers) {
        program.layers.push_back({.name = layer.name, .kind = layer.kind, .macs = layer.macs});
    }
    for (const ValueId input : graph.inputs) program.inputs.push_back(border_tensor(graph.values[input]));
    for (const ValueId output : graph.outputs) {
        program.outputs.push_back(border_tensor(
            graph.values[network.host.at_end.empty() ? output : operators::program_output(graph)]));
        program.outputs.back().conversion = Conversion::Nearest;
    }
    for (const ir::NodeId id : network.host.at_end) {
        const ir::Node& node = graph.nodes[id];
        program.host_operations.push_back({.kind = std::string(node.op->name()), .layer = node.name});
    }
    program.instructions = Emitter(network, plan, machine, host).emit(inferences);
    program.instructions =
        one_after_the_other(emit::synchronize(program.instructions, program), !network.segments.empty());
    return program;
}

}  // namespace systole::edge_tpu
