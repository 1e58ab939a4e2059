#include "compiler/target/tensor_core/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/limits.h"
#include "compiler/emit/instruction_stream.h"
#include "compiler/emit/synchronize.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tensor_core/row_boxes.h"
#include "compiler/target/tensor_core/step_emitter.h"
#include "hw/isa/fields.h"
#include "hw/isa/instruction.h"

namespace systole::tensor_core {
namespace {

using ir::ValueId;
using isa::Register;

constexpr std::uint64_t alignment = 64;

/// As many parts of the images come in one after the other.
constexpr std::uint64_t infeed_parts = 8;

/// The extents of a value without a first one of 1.
std::vector<std::uint32_t> shape_of_inference(const ir::Shape& shape) {
    auto extents = shape.extents();
    if (extents.empty()) return {1};  // a number
    if (extents.size() > 1 && extents.front() == 1) extents = extents.subspan(1);
    return {extents.begin(), extents.end()};
}

isa::BorderTensor border_of(const ir::Value& value) {
    return {.name = value.name,
            .shape = shape_of_inference(value.shape),
            .type = value.file_type.value_or(value.type)};
}

/// Inferences that fill up the last batch, of which all cores have equal parts.
std::uint64_t padding_of(const mapping::Batches& batches, std::uint64_t cores) {
    const std::uint64_t last = (batches.inferences - 1) % batches.batch + 1;
    return round_up(last, cores) - last;
}

/// Whether an input or output, by its number, is state.
bool is_state_input(const ir::Graph& graph, std::size_t input) {
    return std::ranges::find(graph.state, input, &ir::Graph::State::input) != graph.state.end();
}
bool is_state_output(const ir::Graph& graph, std::size_t output) {
    return std::ranges::find(graph.state, output, &ir::Graph::State::output) != graph.state.end();
}

bool is_cache_input(const ir::Graph& graph, std::size_t input) {
    const auto is_this = [&](const ir::Graph::Cache& cache) { return cache.input == input; };
    return std::ranges::any_of(graph.caches, is_this);
}
bool is_cache_output(const ir::Graph& graph, std::size_t output) {
    return std::ranges::find(graph.caches, output, &ir::Graph::Cache::output) != graph.caches.end();
}

/// Where caches are in memory before the run and after it.
std::vector<isa::ResidentTensor> residents_of(const Network& network) {
    std::vector<isa::ResidentTensor> residents;
    const auto add = [&](isa::ResidentSide side, std::uint32_t number, const Tensor& tensor,
                         const RowBox& rows) {
        isa::ResidentTensor& resident = residents.emplace_back();
        resident = {.side = side,
                    .number = number,
                    .inferences = field32(network.images),
                    .first_row = field32(tensor.row + rows.row),
                    .inference_rows = field32(tensor.image_rows),
                    .panel_rows = field32(tensor.panel_rows),
                    .columns = field32(tensor.columns)};
        for (std::size_t axis = 0; axis < rows.extents.size(); ++axis)
            resident.axes.push_back({field32(rows.extents[axis]), field32(rows.apart[axis])});
    };
    for (std::size_t i = 0; i < network.caches.size(); ++i) {
        const CacheTensors& cache = network.caches[i];
        const ir::Graph::Cache& numbers = network.graph->caches[i];
        const Tensor& output = network.tensors[cache.output];
        if (cache.place) {
            add(isa::ResidentSide::Input, *numbers.input, output, *cache.place);
        } else if (cache.input) {
            const Tensor& input = network.tensors[*cache.input];
            add(isa::ResidentSide::Input, *numbers.input, input, all_rows(input.rows));
        }
        add(isa::ResidentSide::Output, numbers.output, output, all_rows(output.rows));
    }
    return residents;
}

/// The host's buffers for inputs and outputs, each for all inferences and those that fill up the last batch;
/// those of state for a batch.
class HostBuffers {
public:
    HostBuffers(const ir::Graph& graph, const mapping::Batches& batches, std::uint64_t padding)
        : graph_(graph), batches_(batches), padding_(padding) {
        for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
            add(isa::BufferKind::Input, "input", graph.inputs, i,
                is_state_input(graph, i) ? batches.batch : batches.inferences);
        }
        for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
            add(isa::BufferKind::Output, "output", graph.outputs, i,
                is_state_output(graph, i) ? batches.batch : batches.inferences);
        }
    }

    const std::vector<isa::HostBuffer>& buffers() const { return buffers_; }

private:
    void add(isa::BufferKind kind, const char* side, const std::vector<ValueId>& all, std::size_t place,
             std::uint64_t inferences) {
        const ValueId id = all[place];
        const std::string wanted =
            all.size() == 1 ? side : fmt::format("{}.{}", side, graph_.values[id].name);
        std::string name = wanted;
        for (int number = 2; !names_.insert(name).second; ++number)
            name = fmt::format("{}.{}", wanted, number);
        const std::uint64_t address = round_up(end_, alignment);
        const std::uint64_t each = graph_.values[id].shape.elements() * isa::word_bytes;
        const std::uint64_t images = inferences + padding_;
        if (address > isa::host_memory_limit || images > (isa::host_memory_limit - address) / each) {
            throw ModelError(fmt::format("{}: {} inferences take more than the host's {} bytes", graph_.name,
                                         batches_.inferences, isa::host_memory_limit));
        }
        buffers_.push_back({.name = std::move(name),
                            .kind = kind,
                            .address = address,
                            .bytes = inferences * each,
                            .padding = padding_ * each});
        end_ = address + images * each;
    }

    const ir::Graph& graph_;
    const mapping::Batches batches_;
    const std::uint64_t padding_;
    std::uint64_t end_ = 0;
    std::vector<isa::HostBuffer> buffers_;
    std::set<std::string> names_;
};

class Emitter {
public:
    Emitter(const Network& network, const MemoryPlan& plan, const machine::MachineConfig& machine,
            const std::vector<isa::HostBuffer>& buffers)
        : network_(network),
          buffers_(buffers),
          cores_(machine.cores()),
          steps_(network, plan, machine, stream_) {}

    /// Each core has an equal part of a batch, one behind the other in host memory. The images of the last
    /// group may be fewer: then rows of others are computed beside them and not read. The images of the next
    /// group come in while one is worked on. State comes in with the first group, and goes out with the last.
    std::vector<isa::Instruction> emit(const mapping::Batches& batches) {
        std::vector<Group> groups;
        for (std::uint64_t first = 0; first < batches.inferences; first += batches.batch) {
            const std::uint64_t images = std::min<std::uint64_t>(batches.batch, batches.inferences - first);
            const std::uint64_t of_core = divide_up(images, cores_);
            for (std::uint64_t done = 0; done < of_core; done += network_.images)
                groups.push_back({.first = first + done,
                                  .images = std::min(network_.images, of_core - done),
                                  .of_core = of_core});
            groups.back().ends_batch = true;
        }
        groups.back().is_last = true;
        emit_infeeds(groups[0], 0);
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (i + 1 < groups.size()) emit_infeeds(groups[i + 1], (i + 1) % 2);
            emit_steps(groups[i].images, i % 2);
            emit_outfeeds(groups[i], i % 2);
            if (groups[i].ends_batch) stream_.append(isa::InterruptHost{});
        }
        stream_.append(isa::Halt{});
        return stream_.take();
    }
    const std::vector<isa::Chain>& chains() const { return steps_.chains().chains(); }

private:
    /// Images that go through the network together.
    struct Group {
        std::uint64_t first = 0;  ///< of the first core
        std::uint64_t images = 1;
        std::uint64_t of_core = 1;  ///< all images of a core in the batch
        bool ends_batch = false;
        bool is_last = false;
    };

    std::uint64_t address_of(std::size_t buffer, std::uint64_t row, const Tensor& tensor) const {
        return buffers_[buffer].address + row * tensor.columns * isa::word_bytes;
    }

    /// The next core finds its images so many rows of the tensor behind those of this one.
    void set_part_of_core(std::uint64_t images, const Tensor& tensor) {
        if (cores_ == 1) return;
        stream_.set(Register::HostCoreBytes,
                    static_cast<std::uint32_t>(images * tensor.rows * tensor.columns * isa::word_bytes));
    }

    void emit_infeeds(const Group& group, std::uint64_t turn) {
        const std::uint64_t first = group.first;
        const std::uint64_t images = group.images;
        stream_.tag(0);
        steps_.begin(0, images, turn);
        for (std::size_t i = 0; i < network_.inputs.size(); ++i) {
            if (first > 0 && is_state_input(*network_.graph, i)) continue;
            if (is_cache_input(*network_.graph, i)) continue;
            const Tensor& tensor = network_.tensors[network_.inputs[i]];
            stream_.set(Register::ResultPanelRows, static_cast<std::uint32_t>(tensor.panel_rows));
            set_part_of_core(group.of_core, tensor);
            // Work on the first images begins while others come in.
            const bool image_by_image = tensor.image_rows != tensor.memory_rows(tensor.rows);
            const std::uint64_t some = image_by_image ? 1 : divide_up(images, infeed_parts);
            for (std::uint64_t image = 0; image < images; image += some) {
                const std::uint64_t rows = std::min(some, images - image) * tensor.rows;
                stream_.append(
                    isa::Infeed{.host_address = address_of(i, (first + image) * tensor.rows, tensor),
                                .hbm_row = static_cast<std::uint32_t>(steps_.row_of(network_.inputs[i]) +
                                                                      image * tensor.image_rows),
                                .rows = static_cast<std::uint32_t>(rows),
                                .columns = static_cast<std::uint32_t>(tensor.columns),
                                .packed = tensor.is_packed});
            }
        }
    }

    /// Segment by segment; of the last images, only those that are there.
    void emit_steps(std::uint64_t images, std::uint64_t turn) {
        for (const Segment& segment : network_.all_segments()) {
            for (std::uint64_t image = 0; image < images; image += segment.images) {
                steps_.begin(image, segment.images, turn, std::min(segment.images, images - image));
                for (std::uint32_t i = segment.first; i < segment.end; ++i) steps_.emit(network_.steps[i]);
            }
        }
    }

    void emit_outfeeds(const Group& group, std::uint64_t turn) {
        stream_.tag(0);
        steps_.begin(0, group.images, turn);
        for (std::size_t i = 0; i < network_.outputs.size(); ++i) {
            const bool is_state = is_state_output(*network_.graph, i);
            if (is_state && !group.is_last) continue;
            if (is_cache_output(*network_.graph, i)) continue;
            const std::uint64_t first = is_state ? 0 : group.first;
            const Tensor& tensor = network_.tensors[network_.outputs[i]];
            stream_.set(Register::SourcePanelRows, static_cast<std::uint32_t>(tensor.panel_rows));
            set_part_of_core(group.of_core, tensor);
            stream_.append(isa::Outfeed{
                .host_address = address_of(network_.inputs.size() + i, first * tensor.rows, tensor),
                .hbm_row = static_cast<std::uint32_t>(steps_.row_of(network_.outputs[i])),
                .rows = static_cast<std::uint32_t>(group.images * tensor.rows),
                .columns = static_cast<std::uint32_t>(tensor.columns)});
        }
    }

    const Network& network_;
    const std::vector<isa::HostBuffer>& buffers_;
    const std::uint64_t cores_;
    emit::InstructionStream stream_;
    StepEmitter steps_;
};

}  // namespace

isa::Program emit_program(const Network& network, MemoryPlan plan, const machine::MachineConfig& machine,
                          const mapping::Batches& batches) {
    const ir::Graph& graph = *network.graph;
    isa::Program program;
    program.geometry = {.rows = machine.matrix_unit.rows,
                        .columns = machine.matrix_unit.columns,
                        .tensor = {.lanes = machine.vector_unit.lanes, .cores = machine.cores()}};
    program.model = graph.name;
    program.batch = batches.batch;
    program.inferences = batches.inferences;
    program.buffers = HostBuffers(graph, batches, padding_of(batches, machine.cores())).buffers();
    for (const Layer& layer : network.layers)
        program.layers.push_back({.name = layer.name, .kind = layer.kind, .macs = layer.macs});
    for (const ValueId input : graph.inputs) program.inputs.push_back(border_of(graph.values[input]));
    for (const ValueId output : graph.outputs) program.outputs.push_back(border_of(graph.values[output]));
    for (const ir::Graph::State& state : graph.state)
        program.state.push_back({.input = state.input, .output = state.output});
    program.residents = residents_of(network);
    Emitter emitter(network, plan, machine, program.buffers);
    const std::vector<isa::Instruction> instructions = emitter.emit(batches);
    program.chains = emitter.chains();
    program.initial[isa::MemoryId::Hbm] = std::move(plan.constants);
    program.instructions =
        emit::synchronize(instructions, program, machine::LayerOrder::Rows, !network.overlaps);
    return program;
}

}  // namespace systole::tensor_core
