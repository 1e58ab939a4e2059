#include "compiler/target/tensor_core/network_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "compiler/ir/model_error.h"
#include "compiler/operators/words.h"
#include "compiler/target/tensor_core/chains_before_reductions.h"
#include "compiler/target/tensor_core/join_steps.h"
#include "compiler/target/tensor_core/moves.h"
#include "compiler/target/tensor_core/order_steps.h"
#include "compiler/target/tensor_core/pack_rows.h"
#include "compiler/target/tensor_core/side_by_side.h"
#include "compiler/target/tensor_core/sums_beside_rows.h"

namespace systole::tensor_core {
namespace {

using ir::NodeView;
using ir::Value;
using ir::ValueId;

}  // namespace

NetworkBuilder::NetworkBuilder(const ir::Graph& graph, const machine::MachineConfig& machine,
                               std::uint64_t images, const NetworkForm& form)
    : graph_(graph), machine_(machine), form_(form), readers_(ir::readers(graph)) {
    network_.graph = &graph;
    network_.images = images;
    network_.overlaps = form.overlaps;
}

Network NetworkBuilder::build() {
    check_machine();
    if (form_.by_lines) side_by_side_ = values_side_by_side(graph_, readers_, lanes());
    for (const ValueId input : graph_.inputs) {
        require_words(graph_.values[input]);
        network_.inputs.push_back(new_tensor(input));
        tensors_.emplace(input, network_.inputs.back());
    }
    for (const ir::Node& node : graph_.nodes) {
        begin_layer(node);
        try {
            add_node({graph_, node});
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("{}: layer {}: {}", graph_.name, node.name, error.what()));
        }
    }
    for (const ValueId output : graph_.outputs) {
        const TensorId tensor = tensor_of(output);
        if (network_.tensors[tensor].is_shared) {
            throw ModelError(
                fmt::format("{}: output {} is the same for all images, which a tensor core does not write",
                            graph_.name, graph_.values[output].name));
        }
        network_.outputs.push_back(tensor);
    }
    add_state();
    add_caches();
    finish();
    return std::move(network_);
}

void NetworkBuilder::check_machine() const {
    if (machine_.matrix_unit.columns == machine_.vector_unit.lanes) return;
    throw ModelError(
        fmt::format("{}: networks are compiled for arrays of as many columns as there are "
                    "lanes; machine {} has {} and {}",
                    graph_.name, machine_.name, machine_.matrix_unit.columns, machine_.vector_unit.lanes));
}

void NetworkBuilder::add_state() {
    std::set<TensorId> taken(network_.inputs.begin(), network_.inputs.end());
    for (const ir::Graph::State& state : graph_.state) {
        const TensorId input = network_.inputs[state.input];
        TensorId& output = network_.outputs[state.output];
        if (output != input && !taken.insert(output).second) {
            network_.layers.push_back(
                {.name = graph_.values[graph_.outputs[state.output]].name, .kind = "identity"});
            output = columns_of(output, 0, tensor(output).columns);
        }
        network_.state.push_back({.input = input, .output = output});
    }
}

void NetworkBuilder::add_caches() {
    std::set<TensorId> taken(network_.inputs.begin(), network_.inputs.end());
    for (const ir::Graph::Cache& cache : graph_.caches) {
        TensorId& output = network_.outputs[cache.output];
        CacheTensors added{.output = output};
        if (cache.input) {
            added.input = network_.inputs[*cache.input];
            const auto place = cached_.find(graph_.inputs[*cache.input]);
            if (place != cached_.end()) added.place = place->second;
        }
        if (!taken.insert(output).second) {
            network_.layers.push_back(
                {.name = graph_.values[graph_.outputs[cache.output]].name, .kind = "identity"});
            output = columns_of(output, 0, tensor(output).columns);
            added.output = output;
        }
        network_.caches.push_back(std::move(added));
    }
}

void NetworkBuilder::require_words(const Value& value) {
    if (operators::is_word_type(value.type)) return;
    throw ModelError(fmt::format("{} is {}; a tensor core has float32, bfloat16 and int32", value.name,
                                 name_of(value.type)));
}

void NetworkBuilder::require_float(const Value& value) {
    if (value.type == DataType::Float32 || value.type == DataType::Bfloat16) return;
    throw ModelError(fmt::format("{} is {}; a tensor core multiplies float32 and bfloat16", value.name,
                                 name_of(value.type)));
}

void NetworkBuilder::begin_layer(const ir::Node& node) {
    const std::uint64_t macs = node.op->macs({graph_, node});
    if (network_.layers.empty() || network_.layers.back().name != node.name) {
        network_.layers.push_back({.name = node.name, .kind = std::string(node.op->name())});
    }
    Layer& layer = network_.layers.back();
    if (macs > 0 && layer.macs == 0) layer.kind = node.op->name();
    layer.macs += macs;
}

TensorId NetworkBuilder::add(Tensor tensor) {
    network_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(network_.tensors.size() - 1);
}

TensorId NetworkBuilder::new_tensor(const std::string& name, const MatrixShape& shape, bool is_shared) {
    return add({.name = name, .rows = shape.rows, .columns = shape.columns, .is_shared = is_shared});
}

TensorId NetworkBuilder::new_tensor(ValueId id) {
    const Value& value = graph_.values[id];
    const TensorId made = new_tensor(value.name, shape_of(id), !value.has_batch());
    tensor(made).is_bfloat16 = value.type == DataType::Bfloat16;
    tensor(made).is_moved = side_by_side_.contains(id);  // windows are read from high-bandwidth memory
    return made;
}

MatrixShape NetworkBuilder::shape_of(ValueId id) const {
    const auto found = side_by_side_.find(id);
    return found == side_by_side_.end() ? matrix_of(graph_.values[id].shape) : found->second;
}

TensorId NetworkBuilder::tensor_of(ValueId id) {
    if (const auto found = tensors_.find(id); found != tensors_.end()) return found->second;
    const Value& value = graph_.values[id];
    if (value.constant) {
        require_words(value);
        const TensorId made = new_tensor(id);
        tensor(made).constant = id;
        tensors_.emplace(id, made);
        return made;
    }
    const auto reshaped = reshaped_.find(id);
    if (reshaped == reshaped_.end()) throw std::logic_error("a value that nothing computes");
    const TensorId source = tensor_of(reshaped->second);
    const TensorId made = new_tensor(id);
    add_reshape(source, made);
    tensors_.emplace(id, made);
    return made;
}

std::optional<TensorId> NetworkBuilder::reshaped_from(ValueId id, const MatrixShape& shape) {
    const auto reshaped = reshaped_.find(id);
    if (!form_.by_lines || reshaped == reshaped_.end() || tensors_.contains(id)) return std::nullopt;
    const TensorId source = tensor_of(reshaped->second);
    if (MatrixShape{tensor(source).rows, tensor(source).columns} != shape) return std::nullopt;
    return source;
}

TensorId NetworkBuilder::new_constant(const std::string& name, const MatrixShape& shape,
                                      std::vector<std::uint32_t> words) {
    const TensorId made = new_tensor(name, shape, true);
    tensor(made).words = std::move(words);
    tensor(made).is_constant = true;
    return made;
}

void NetworkBuilder::add_step(Step step) {
    step.layer = layer();
    steps_.emplace_back(std::move(step));
}

void NetworkBuilder::add_move(const std::vector<TensorId>& sources, const OriginMap& origins,
                              TensorId result) {
    std::vector<std::uint64_t> columns;
    columns.reserve(sources.size());
    for (const TensorId source : sources) columns.push_back(tensor(source).columns);
    std::vector<MovedRows> moves = rows_of_origins(origins, tensor(result).columns, columns);
    for (const TensorId source : sources) tensor(source).is_moved = true;
    tensor(result).is_moved = true;
    Step step{.kind = StepKind::Move, .result = result};
    step.sources = sources;
    step.moves = std::move(moves);
    add_step(std::move(step));
}

void NetworkBuilder::add_movement(const std::vector<TensorId>& sources, Movement movement, TensorId result) {
    for (const TensorId source : sources) tensor(source).is_moved = true;
    tensor(result).is_moved = true;
    Step step{.kind = movement.transposition ? StepKind::Transpose : StepKind::MoveBoxes, .result = result};
    step.sources = sources;
    step.movement = std::move(movement);
    add_step(std::move(step));
}

void NetworkBuilder::add_reshape(TensorId source, TensorId result) {
    const Tensor& made = tensor(result);
    add_movement({source},
                 reshaped_rows(tensor(source).columns, made.columns, made.rows * made.columns, lanes()),
                 result);
}

TensorId NetworkBuilder::columns_of(TensorId source, std::uint64_t first, std::uint64_t count) {
    const TensorId made =
        new_tensor(tensor(source).name, {tensor(source).rows, count}, tensor(source).is_shared);
    RowBox box = all_rows(tensor(source).rows);
    box.columns.push_back({.count = count, .source = 0, .from = first, .apart = {1}});
    add_movement({source}, {.boxes = {std::move(box)}}, made);
    return made;
}

void NetworkBuilder::add_node(const NodeView& node) {
    for (const ValueId output : node.node().outputs) require_words(graph_.values[output]);
    if (node.node().op->reduces_batch(node.node()))
        throw ModelError("it combines the images of a batch, which a tensor core does not");
    if (node.node().is("word_chain")) return add_chain(node);
    if (node.node().is("word_reduce")) return add_reduction(node);
    if (node.node().is("word_windows")) return add_windows(node);
    if (node.node().is("dense")) return add_dense(node);
    if (node.node().is("word_convolution")) return add_word_convolution(*this, node);
    if (node.node().is("matrix_product")) return add_word_product(node);
    if (node.node().is("word_select_and_scatter")) return add_select_and_scatter(*this, node);
    if (node.node().is("convolution")) return add_convolution(node);
    if (node.node().is("depthwise_convolution")) return add_depthwise(node);
    if (node.node().is("all_reduce")) return add_all_reduce(node);
    if (node.node().is("gather") && !node.input(1).constant) return add_gather(node);
    if (only_moves(node.node())) return add_movement(node);
    throw ModelError(fmt::format("{} is not computed by a tensor core", node.node().op->name()));
}

void NetworkBuilder::finish_value(ValueId id, Step step, std::optional<std::uint32_t> layer_of) {
    producers_[id] = steps_.size();
    add_step(std::move(step));
    if (layer_of) steps_.back()->layer = *layer_of;
}

void NetworkBuilder::set_value(ValueId id, Step step) {
    tensors_.emplace(id, step.result);
    finish_value(id, std::move(step));
}

void NetworkBuilder::set_value(ValueId id, TensorId made) {
    tensors_.emplace(id, made);
}

void NetworkBuilder::finish() {
    for (std::optional<Step>& step : steps_) {
        if (step) network_.steps.push_back(std::move(*step));
    }
    put_chains_before_reductions(network_, machine_);
    if (form_.joins_steps) join_steps(network_, machine_);
    if (form_.packs_rows) {
        pack_behind_lines();
        pack_rows(network_, machine_);
    }
    if (form_.joins_steps) put_sums_beside_rows(network_, machine_);
    keep_worked_layers();
    if (form_.frees_early) order_steps(network_, machine_);
    find_lives();
}

void NetworkBuilder::pack_behind_lines() {
    std::vector<Step> steps;
    for (Step& step : network_.steps) {
        const Tensor& made = tensor(step.result);
        const bool is_packed_behind = step.reads_lines && step.inner_images > 1 && made.is_bfloat16 &&
                                      made.rows % 2 == 0 && made.columns > 1 && !made.is_shared;
        if (!is_packed_behind) {
            steps.push_back(std::move(step));
            continue;
        }
        const Tensor result = tensor(step.result);
        Step copy{.kind = StepKind::Chain, .layer = step.layer, .result = step.result};
        step.result = new_tensor(result.name, {result.rows, result.columns}, result.is_shared);
        copy.chains = {{.operands = {{OperandKind::Rows, step.result}}, .steps = {}}};
        steps.push_back(std::move(step));
        steps.push_back(std::move(copy));
    }
    network_.steps = std::move(steps);
}

void NetworkBuilder::find_lives() {
    const auto end = static_cast<std::uint32_t>(network_.steps.size());
    for (Tensor& each : network_.tensors) each.first = end;
    for (std::uint32_t i = 0; i < end; ++i) {
        const Step& step = network_.steps[i];
        for (const TensorId written : written_by(step)) {
            tensor(written).first = std::min(tensor(written).first, i);
            tensor(written).last = std::max(tensor(written).last, i);  // also of one that nobody reads
        }
        for (const TensorId read : read_by(step)) tensor(read).last = std::max(tensor(read).last, i);
    }
    for (const TensorId input : network_.inputs) {
        tensor(input).first = 0;
        tensor(input).is_moved = true;
    }
    for (const TensorId output : network_.outputs) {
        tensor(output).last = end;
        tensor(output).is_moved = true;
    }
    for (const CacheTensors& cache : network_.caches) {
        if (cache.place) tensor(cache.output).first = 0;
    }
    if (form_.keeps_results) return;
    for (Tensor& each : network_.tensors) each.may_stay = false;
}

void NetworkBuilder::keep_worked_layers() {
    std::vector<std::optional<std::uint32_t>> places(network_.layers.size());
    for (const Step& step : network_.steps) places[step.layer] = 0;
    std::vector<Layer> kept;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!places[i]) continue;
        places[i] = static_cast<std::uint32_t>(kept.size());
        kept.push_back(std::move(network_.layers[i]));
    }
    for (Step& step : network_.steps) {
        step.layer = *places[step.layer];
        for (Step& sum : step.sums) sum.layer = step.layer;  // as its instructions are the step's
    }
    network_.layers = std::move(kept);
}

MatrixShape matrix_of(const ir::Shape& shape) {
    if (shape.rank() == 0) return {};
    const std::uint64_t columns = shape[shape.rank() - 1];
    return {.rows = shape.elements() / columns, .columns = columns};
}

}  // namespace systole::tensor_core
