#include "compiler/target/tensor_core/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/words.h"
#include "compiler/target/tensor_core/constant_words.h"
#include "compiler/target/tensor_core/layout.h"
#include "compiler/target/tensor_core/network_builder.h"
#include "hw/isa/instructions/run_chain.h"

namespace systole::tensor_core {
namespace {

using ir::NodeView;
using ir::Value;
using ir::ValueId;

/// As many values of a chain that was put together as leave room for one more chain's.
constexpr std::size_t most_joined_values = 48;

/// Each element that moves by itself takes memory while a network is compiled, and an instruction.
constexpr std::uint64_t most_moved_one_by_one = std::uint64_t{1} << 22U;

/// Pixels lie side by side if that takes at most one in so many bytes: windows of lines cost work between
/// lanes.
constexpr std::uint64_t least_padding_saved = 2;

/// Extents with ones before them, so that there are `rank`.
std::vector<std::uint64_t> extents_of(const ir::Shape& shape, std::size_t rank) {
    std::vector<std::uint64_t> extents(rank - shape.rank(), 1);
    for (const std::uint32_t extent : shape.extents()) extents.push_back(extent);
    return extents;
}

/// The elements of `shape` that NumPy's broadcasting repeats for those of `result`.
std::vector<std::uint64_t> repeated(const ir::Shape& shape, const ir::Shape& result) {
    const std::vector<std::uint64_t> from = extents_of(shape, result.rank());
    std::vector<std::uint64_t> strides(result.rank());
    std::uint64_t stride = 1;
    for (std::size_t axis = result.rank(); axis-- > 0;) {
        strides[axis] = from[axis] == 1 ? 0 : stride;
        stride *= from[axis];
    }
    std::vector<std::uint64_t> elements(result.elements());
    std::vector<std::uint32_t> index(result.rank());
    std::uint64_t place = 0;
    for (std::uint64_t& element : elements) {
        element = place;
        for (std::size_t axis = result.rank(); axis-- > 0;) {
            place += strides[axis];
            if (++index[axis] < result[axis]) break;
            place -= strides[axis] * result[axis];
            index[axis] = 0;
        }
    }
    return elements;
}

/// All rows of a matrix, without columns.
RowBox all_rows(std::uint64_t rows) {
    return {.extents = {rows}, .apart = {1}};
}

/// The first rule of chains that it breaks, whatever its operands are.
std::optional<std::string> broken_rule_of(const ChainUse& chain) {
    const std::size_t values = chain.operands.size() + chain.steps.size();
    return isa::broken_rule({.name = "c",
                             .sources = std::vector<isa::ChainSource>(chain.operands.size()),
                             .steps = chain.steps,
                             .results = {{.value = static_cast<std::uint8_t>(values - 1)}}});
}

/// The two chains as one: what the second takes from before it is the first one's result. nullopt if an
/// instruction has no room for it.
std::optional<ChainUse> joined(const ChainUse& first, const ChainUse& second) {
    ChainUse both{.operands = first.operands, .steps = {}, .fills_lanes = second.fills_lanes};
    std::vector<std::size_t> places;  // of the second's operands; the first one's result is found below
    for (const Operand& operand : second.operands) {
        auto found = std::ranges::find(both.operands, operand);
        if (operand.kind == OperandKind::Before) {
            places.push_back(0);
            continue;
        }
        places.push_back(static_cast<std::size_t>(found - both.operands.begin()));
        if (found == both.operands.end()) both.operands.push_back(operand);
    }
    const std::size_t operands = both.operands.size();
    const std::size_t values = operands + first.steps.size() + second.steps.size();
    if (operands > isa::RunChain::most_sources || values > most_joined_values) return std::nullopt;
    const auto add = [&](const ChainUse& chain, const auto& place_of) {
        for (isa::ChainStep step : chain.steps) {
            for (std::uint8_t& operand : step.operands)
                operand = static_cast<std::uint8_t>(place_of(operand));
            both.steps.push_back(std::move(step));
        }
    };
    const std::size_t in_first = first.operands.size();
    add(first, [&](std::size_t value) { return value < in_first ? value : value - in_first + operands; });
    const std::size_t result = operands + first.steps.size() - 1;
    add(second, [&](std::size_t value) {
        if (value >= second.operands.size()) return value - second.operands.size() + result + 1;
        return second.operands[value].kind == OperandKind::Before ? result : places[value];
    });
    if (broken_rule_of(both)) return std::nullopt;  // the chip may lack a register for both
    return both;
}

class Builder final : public NetworkBuilder {
public:
    Builder(const ir::Graph& graph, const machine::MachineConfig& machine, std::uint64_t images)
        : graph_(graph), machine_(machine), readers_(ir::readers(graph)) {
        network_.graph = &graph;
        network_.images = images;
    }

    Network build(bool by_lines) {
        check_machine();
        if (by_lines) {
            for (const ValueId input : graph_.inputs) {
                if (is_state(input)) continue;  // it lies as the output does that replaces it
                auto none = side_by_side_;
                if (!find_lines(input)) side_by_side_ = std::move(none);
                find_row(input);
            }
        }
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
                throw ModelError(fmt::format(
                    "{}: output {} is the same for all images, which a tensor core does not write",
                    graph_.name, graph_.values[output].name));
            }
            network_.outputs.push_back(tensor);
        }
        add_state();
        finish();
        return std::move(network_);
    }

private:
    void check_machine() const {
        if (machine_.matrix_unit.columns == machine_.vector_unit.lanes) return;
        throw ModelError(fmt::format(
            "{}: networks are compiled for arrays of as many columns as there are "
            "lanes; machine {} has {} and {}",
            graph_.name, machine_.name, machine_.matrix_unit.columns, machine_.vector_unit.lanes));
    }

    bool is_state(ValueId input) const {
        return std::ranges::any_of(
            graph_.state, [&](const ir::Graph::State& state) { return graph_.inputs[state.input] == input; });
    }

    /// What replaces an input of state is a tensor of its own, which a step writes to the input's next place;
    /// or it is the input itself.
    void add_state() {
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

    static void require_words(const Value& value) {
        if (operators::is_word_type(value.type)) return;
        throw ModelError(fmt::format("{} is {}; a tensor core has float32, bfloat16 and int32", value.name,
                                     name_of(value.type)));
    }
    /// Of a product.
    static void require_float(const Value& value) {
        if (value.type == DataType::Float32 || value.type == DataType::Bfloat16) return;
        throw ModelError(fmt::format("{} is {}; a tensor core multiplies float32 and bfloat16", value.name,
                                     name_of(value.type)));
    }

    void begin_layer(const ir::Node& node) {
        const std::uint64_t macs = node.op->macs({graph_, node});
        if (network_.layers.empty() || network_.layers.back().name != node.name) {
            network_.layers.push_back({.name = node.name, .kind = std::string(node.op->name())});
        }
        Layer& layer = network_.layers.back();
        if (macs > 0 && layer.macs == 0) layer.kind = node.op->name();
        layer.macs += macs;
    }
    std::uint32_t layer() const { return static_cast<std::uint32_t>(network_.layers.size() - 1); }

    TensorId add(Tensor tensor) {
        network_.tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(network_.tensors.size() - 1);
    }
    TensorId new_tensor(const std::string& name, const MatrixShape& shape, bool is_shared) override {
        return add({.name = name, .rows = shape.rows, .columns = shape.columns, .is_shared = is_shared});
    }
    TensorId new_tensor(ValueId id) override {
        const Value& value = graph_.values[id];
        const TensorId made = new_tensor(value.name, shape_of(id), !value.has_batch());
        tensor(made).is_moved = side_by_side_.contains(id);  // windows are read from high-bandwidth memory
        return made;
    }
    MatrixShape shape_of(ValueId id) const {
        const auto found = side_by_side_.find(id);
        return found == side_by_side_.end() ? matrix_of(graph_.values[id].shape) : found->second;
    }
    Tensor& tensor(TensorId id) override { return network_.tensors[id]; }

    /// The tensor of a value; a constant's, and what a reshape delayed, is made when it is first needed.
    TensorId tensor_of(ValueId id) override {
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

    /// Words that are known when the network is compiled.
    TensorId new_constant(const std::string& name, const MatrixShape& shape,
                          std::vector<std::uint32_t> words) override {
        const TensorId made = new_tensor(name, shape, true);
        tensor(made).words = std::move(words);
        tensor(made).is_constant = true;
        return made;
    }

    void add_step(Step step) override {
        step.layer = layer();
        steps_.emplace_back(std::move(step));
    }

    void add_move(const std::vector<TensorId>& sources, const OriginMap& origins, TensorId result) {
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

    void add_movement(const std::vector<TensorId>& sources, Movement movement, TensorId result) override {
        for (const TensorId source : sources) tensor(source).is_moved = true;
        tensor(result).is_moved = true;
        Step step{.kind = movement.transposition ? StepKind::Transpose : StepKind::MoveBoxes,
                  .result = result};
        step.sources = sources;
        step.movement = std::move(movement);
        add_step(std::move(step));
    }
    /// The elements of a tensor in rows of another length.
    void add_reshape(TensorId source, TensorId result) {
        const Tensor& made = tensor(result);
        add_movement({source},
                     reshaped_rows(tensor(source).columns, made.columns, made.rows * made.columns, lanes()),
                     result);
    }
    std::uint64_t lanes() const { return machine_.vector_unit.lanes; }

    /// Some columns of a tensor, as a tensor.
    TensorId columns_of(TensorId source, std::uint64_t first, std::uint64_t count) {
        const TensorId made =
            new_tensor(tensor(source).name, {tensor(source).rows, count}, tensor(source).is_shared);
        RowBox box = all_rows(tensor(source).rows);
        box.columns.push_back({.count = count, .source = 0, .from = first, .apart = {1}});
        add_movement({source}, {.boxes = {std::move(box)}}, made);
        return made;
    }

    void add_node(const NodeView& node) {
        for (const ValueId output : node.node().outputs) require_words(graph_.values[output]);
        if (node.node().op->reduces_batch(node.node()))
            throw ModelError("it combines the images of a batch, which a tensor core does not");
        if (node.node().is("word_chain")) return add_chain(node);
        if (node.node().is("word_reduce")) return add_reduction(node);
        if (node.node().is("word_windows")) return add_windows(node);
        if (node.node().is("dense")) return add_dense(node);
        if (node.node().is("word_convolution")) return add_word_convolution(*this, node);
        if (node.node().is("word_product")) return add_word_product(node);
        if (node.node().is("word_select_and_scatter")) return add_select_and_scatter(*this, node);
        if (node.node().is("convolution")) return add_convolution(node);
        if (node.node().is("depthwise_convolution")) return add_depthwise(node);
        if (node.node().is("all_reduce")) return add_all_reduce(node);
        if (only_moves(node.node())) return add_movement(node);
        throw ModelError(fmt::format("{} is not computed by a tensor core", node.node().op->name()));
    }

    // Images of few channels.

    /// Whether the pixels of a line lie side by side: if that pads much less, and if convolutions alone read
    /// the image, or element-wise work on it of which the same holds.
    bool find_lines(ValueId id) {
        const Value& value = graph_.values[id];
        if (!ir::is_feature_map(value.shape) || !value.has_batch() || ir::is_output(graph_, id)) return false;
        const ir::FeatureMap map = ir::feature_map(value.shape);
        const MatrixShape lines{map.height, std::uint64_t{map.width} * map.channels};
        if (!pads_less(lines, value)) return false;
        const auto reads = [&](ir::NodeId reader) { return can_read_lines(graph_.nodes[reader], id); };
        if (readers_[id].empty() || !std::ranges::all_of(readers_[id], reads)) return false;
        side_by_side_.emplace(id, lines);
        return true;
    }

    bool pads_less(const MatrixShape& shape, const Value& value) const {
        const auto bytes = [&](const MatrixShape& each) {
            const std::array<std::uint64_t, 2> extents{each.rows, each.columns};
            return padded(extents, Element::Word, machine_.vector_unit.lanes).bytes;
        };
        return bytes(shape) * least_padding_saved <= bytes(matrix_of(value.shape));
    }

    /// All elements lie side by side if only dense layers read them.
    void find_row(ValueId id) {
        const Value& value = graph_.values[id];
        const MatrixShape row{1, value.shape.elements()};
        if (!value.has_batch() || !pads_less(row, value) || !only_dense_reads(id)) return;
        side_by_side_.emplace(id, row);
    }
    bool only_dense_reads(ValueId id) const {
        if (ir::is_output(graph_, id) || readers_[id].empty()) return false;
        return std::ranges::all_of(readers_[id], [&](ir::NodeId reader) {
            const ir::Node& node = graph_.nodes[reader];
            if (node.is("reshape")) return only_dense_reads(node.outputs[0]);
            return node.is("dense") && NodeView{graph_, node}.data_inputs() == 1 && node.inputs[0] == id &&
                   std::ranges::count(node.inputs, id) == 1;
        });
    }

    bool can_read_lines(const ir::Node& node, ValueId id) {
        if (node.is("convolution")) {
            return node.inputs[0] == id && node.inputs[1] != id && node.integer("groups") == 1 &&
                   graph_.values[node.inputs[1]].constant && ir::window_of(node) != ir::Window{};
        }
        if (!node.is("word_chain")) return false;
        const Value& result = graph_.values[node.outputs[0]];
        if (!(result.shape == graph_.values[id].shape)) return false;
        for (const ValueId input : node.inputs) {
            const Value& value = graph_.values[input];
            if (input != id && !(value.constant && value.shape.elements() == 1)) return false;
        }
        return find_lines(node.outputs[0]);
    }

    // Element by element.

    /// How a chain reads an input. A single constant number has no operand.
    std::optional<Operand> operand_of(ValueId id, const ir::Shape& result, bool result_is_shared) {
        const Value& value = graph_.values[id];
        require_words(value);
        const std::uint64_t elements = value.shape.elements();
        const bool is_shared = !value.has_batch();
        if (value.constant && elements == 1) return std::nullopt;
        const MatrixShape shape = matrix_of(result);
        const std::vector<std::uint64_t> extents =
            extents_of(value.shape, std::max<std::size_t>(1, result.rank()));
        const std::vector<std::uint64_t> all = extents_of(result, std::max<std::size_t>(1, result.rank()));
        const bool has_columns = extents.back() == shape.columns;
        const bool one_row = elements == extents.back();
        if (is_shared && one_row && has_columns) return Operand{OperandKind::Row, tensor_of(id)};
        if (elements == result.elements()) return Operand{OperandKind::Rows, tensor_of(id)};
        if (one_row && has_columns && !result_is_shared) return Operand{OperandKind::ImageRow, tensor_of(id)};
        const bool has_rows = std::equal(extents.begin(), extents.end() - 1, all.begin());
        if (has_rows && extents.back() == 1) return Operand{OperandKind::Column, tensor_of(id)};
        if (elements == 1) return Operand{OperandKind::Number, tensor_of(id)};
        if (value.constant && result.elements() <= most_moved_one_by_one) {
            const std::vector<std::uint64_t> places = repeated(value.shape, result);
            std::vector<std::uint32_t> words;
            if (const std::vector<std::uint32_t> own = words_of(value); !own.empty()) {
                words.reserve(places.size());
                for (const std::uint64_t place : places) words.push_back(own[place]);
            }
            return Operand{OperandKind::Rows, new_constant(value.name, shape, std::move(words))};
        }
        const TensorId source = tensor_of(id);
        const TensorId made = new_tensor(value.name, shape, is_shared);
        add_movement({source}, repeated_axes(value.shape, result), made);
        return Operand{OperandKind::Rows, made};
    }

    /// Whether a chain may follow the step that computes the value, instead of reading its result.
    bool can_follow(ValueId id, const MatrixShape& shape, bool is_shared, ir::NodeId reader) const {
        const auto found = producers_.find(id);
        if (found == producers_.end() || ir::is_output(graph_, id)) return false;
        const Value& value = graph_.values[id];
        return shape_of(id) == shape && is_shared == !value.has_batch() &&
               std::ranges::all_of(readers_[id], [&](ir::NodeId each) { return each == reader; });
    }

    void add_chain(const NodeView& view) {
        const ir::Node& node = view.node();
        const Value& result = view.output();
        const MatrixShape shape = shape_of(node.output());
        const bool is_shared = !result.has_batch();
        const auto id = static_cast<ir::NodeId>(&node - graph_.nodes.data());
        // The last of the values that a step has just computed: what it needs is there, too.
        std::optional<ValueId> before;
        for (const ValueId input : node.inputs) {
            if (!can_follow(input, shape, is_shared, id)) continue;
            if (!before || producers_.at(input) > producers_.at(*before)) before = input;
        }
        const std::vector<operators::WordStep> steps = operators::rounded_word_steps(view);
        ChainUse chain;
        std::vector<std::size_t> places(node.inputs.size());
        std::vector<isa::ChainStep> constants;
        std::vector<std::size_t> constant_of(node.inputs.size(), SIZE_MAX);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            std::optional<Operand> operand;
            if (before == node.inputs[i]) {
                operand = Operand{};
            } else {
                operand = operand_of(node.inputs[i], result.shape, is_shared);
            }
            if (!operand) {
                const Value& value = view.input(i);
                constant_of[i] = constants.size();
                constants.push_back({.operation = WordOperation::Constant,
                                     .constant = value.constant->is_known() ? words_of(value).front() : 0});
                continue;
            }
            const auto found = std::ranges::find(chain.operands, *operand);
            places[i] = static_cast<std::size_t>(found - chain.operands.begin());
            if (found == chain.operands.end()) chain.operands.push_back(*operand);
        }
        if (chain.operands.size() > isa::RunChain::most_sources) {
            throw ModelError(fmt::format("its element-wise work reads {} tensors; a chain reads at most {}",
                                         chain.operands.size(), isa::RunChain::most_sources));
        }
        const std::size_t operands = chain.operands.size();
        const std::size_t first_step = operands + constants.size();
        const std::size_t values = first_step + steps.size();
        if (values > isa::most_chain_values) {
            throw ModelError(fmt::format("its element-wise work has {} values; a chain has at most {}",
                                         values, isa::most_chain_values));
        }
        chain.steps = std::move(constants);
        for (const operators::WordStep& step : steps) {
            isa::ChainStep made{.operation = step.operation, .operands = {}, .constant = step.constant};
            for (const std::uint8_t operand : step.operands) {
                std::size_t place = 0;
                if (operand >= node.inputs.size()) {
                    place = first_step + operand - node.inputs.size();
                } else {
                    place =
                        constant_of[operand] == SIZE_MAX ? places[operand] : operands + constant_of[operand];
                }
                made.operands.push_back(static_cast<std::uint8_t>(place));
            }
            chain.steps.push_back(std::move(made));
        }
        if (const auto rule = broken_rule_of(chain))
            throw ModelError(fmt::format("its element-wise work cannot be a chain: {}", *rule));
        const TensorId made = new_tensor(node.output());
        tensors_.emplace(node.output(), made);
        std::optional<Step> moved;
        if (before) moved = std::exchange(steps_[producers_.at(*before)], std::nullopt);
        const auto fills = [&](const Operand& operand) {
            if (operand.kind == OperandKind::Before) return tensor(moved->result).fills_lanes;
            return operand.kind == OperandKind::Number ||
                   (operand.kind == OperandKind::Rows && tensor(operand.tensor).fills_lanes);
        };
        chain.fills_lanes = shape.columns == 1 && std::ranges::all_of(chain.operands, fills);
        tensor(made).fills_lanes = chain.fills_lanes;
        Step step = moved ? std::move(*moved) : Step{.kind = StepKind::Chain};
        step.result = made;
        std::optional<ChainUse> both;
        if (!step.chains.empty()) both = joined(step.chains.back(), chain);
        if (both) {
            step.chains.back() = std::move(*both);
        } else {
            step.chains.push_back(std::move(chain));
        }
        // Element-wise work counts for the layer that it follows.
        const std::optional<std::uint32_t> followed = before ? std::optional(step.layer) : std::nullopt;
        finish_value(node.output(), std::move(step), followed);
    }

    /// Adds the step that computes a value, which a chain may follow. `layer_of`: to which it belongs, if not
    /// to the node's.
    void finish_value(ValueId id, Step step, std::optional<std::uint32_t> layer_of = {}) {
        producers_[id] = steps_.size();
        add_step(std::move(step));
        if (layer_of) steps_.back()->layer = *layer_of;
    }

    void set_value(ValueId id, Step step) override {
        tensors_.emplace(id, step.result);
        finish_value(id, std::move(step));
    }
    void set_value(ValueId id, TensorId made) override { tensors_.emplace(id, made); }

    // Products.

    std::vector<ProductPass> passes_of(const ir::Node& node) const override {
        const std::int64_t tile = node.integer("sum_tile");
        if (tile != machine_.matrix_unit.rows) {
            throw ModelError(fmt::format("its sums are cut every {}; the array has {} rows", tile,
                                         machine_.matrix_unit.rows));
        }
        const std::string& name = node.text("precision");
        const auto* const found = std::ranges::find(math::precision_names, name);
        if (found == math::precision_names.end())
            throw ModelError(fmt::format("its precision is {}; the array multiplies bfloat16", name));
        std::vector<ProductPass> passes;
        const auto precision = static_cast<math::Precision>(found - math::precision_names.begin());
        for (const math::PairOfParts& pair : math::passes_of(precision)) {
            passes.push_back({.row_part = static_cast<std::uint8_t>(pair.a),
                              .weight_part = static_cast<std::uint8_t>(pair.b)});
        }
        return passes;
    }

    TensorId weights_of(ValueId id, const std::vector<ProductPass>& passes) override {
        const Value& value = graph_.values[id];
        require_float(value);
        if (!value.constant) {
            const TensorId computed = tensor_of(id);
            tensor(computed).is_moved = true;
            return computed;
        }
        // Beside the tensor that other steps read: this one lies in tiles of the array.
        const auto [found, is_new] = weights_.try_emplace({id, is_packed(passes)}, TensorId{});
        if (is_new) {
            found->second = new_tensor(id);
            tensor(found->second).constant = id;
            tensor(found->second).is_weights = true;
        }
        return found->second;
    }

    void add_product(const NodeView& view, Step step) {
        step.kind = StepKind::Product;
        step.passes = passes_of(view.node());
        if (view.parameter(1) != nullptr) throw std::logic_error("a product with a bias");
        step.weights = weights_of(view.node().inputs[view.data_inputs()], step.passes);
        step.result = new_tensor(view.node().output());
        tensors_.emplace(view.node().output(), step.result);
        finish_value(view.node().output(), std::move(step));
    }

    /// Matrices of which both may be computed.
    void add_word_product(const NodeView& view) {
        const ir::Node& node = view.node();
        for (const ValueId input : node.inputs) require_float(graph_.values[input]);
        Step step{.kind = StepKind::Product};
        step.passes = passes_of(node);
        step.matrices = product_matrices(view);
        step.source =
            node.integer("transposed_a") == 1 ? swapped_axes(node.inputs[0]) : tensor_of(node.inputs[0]);
        const ValueId weights = node.inputs[1];
        const ir::Shape& shape = view.input(1).shape;
        const std::size_t last = shape.rank() - 1;
        const bool is_transposed = node.integer("transposed_b") == 1;
        step.depth = shape[is_transposed ? last : last - 1];
        const bool is_one = shape.elements() == std::uint64_t{shape[last - 1]} * shape[last];
        if (view.input(1).constant && is_one) {
            step.weights = weight_tiles_of(weights, is_transposed, step.passes);
        } else if (is_transposed && step.depth > machine_.matrix_unit.rows &&
                   machine_.matrix_unit.rows % lanes() != 0) {
            // Rows of the array would begin inside a panel of the transposed weights.
            step.weights = swapped_axes(weights);
        } else {
            step.weights = tensor_of(weights);
            step.weights_transposed = is_transposed;
        }
        tensor(step.weights).is_moved = true;
        step.result = new_tensor(node.output());
        tensors_.emplace(node.output(), step.result);
        finish_value(node.output(), std::move(step));
    }

    /// The value with its last two axes swapped.
    TensorId swapped_axes(ValueId id) {
        const Value& value = graph_.values[id];
        const TensorId source = tensor_of(id);
        std::vector<std::size_t> axes(value.shape.rank());
        std::iota(axes.begin(), axes.end(), std::size_t{0});
        std::swap(axes.back(), axes[axes.size() - 2]);
        const std::uint64_t columns = value.shape[axes.back()];
        const TensorId made =
            new_tensor(value.name, {value.shape.elements() / columns, columns}, !value.has_batch());
        add_movement({source}, permuted_axes(value.shape, axes, lanes()), made);
        return made;
    }

    /// A constant matrix in tiles of the array.
    TensorId weight_tiles_of(ValueId id, bool is_transposed, const std::vector<ProductPass>& passes) {
        if (!is_transposed) return weights_of(id, passes);
        const auto [found, is_new] = transposed_weights_.try_emplace({id, is_packed(passes)}, TensorId{});
        if (!is_new) return found->second;
        const Value& value = graph_.values[id];
        const MatrixShape shape = matrix_of(value.shape);
        const std::vector<std::uint32_t> own = words_of(value);
        std::vector<std::uint32_t> words;
        words.reserve(own.size());
        for (std::uint64_t column = 0; !own.empty() && column < shape.columns; ++column) {
            for (std::uint64_t row = 0; row < shape.rows; ++row)
                words.push_back(own[row * shape.columns + column]);
        }
        found->second = new_constant(value.name, {shape.columns, shape.rows}, std::move(words));
        tensor(found->second).is_weights = true;
        return found->second;
    }

    /// The tensor with the elements of a value in its order, whatever its shape.
    TensorId elements_of(ValueId id) {
        const auto reshaped = reshaped_.find(id);
        if (reshaped != reshaped_.end() && !tensors_.contains(id)) return elements_of(reshaped->second);
        return tensor_of(id);
    }

    void add_dense(const NodeView& view) {
        const ir::Node& node = view.node();
        Step step;
        if (view.data_inputs() == 1) {
            step.source = elements_of(node.inputs[0]);
        } else {
            step.source = joined_inputs(view);
        }
        const Tensor& source = tensor(step.source);
        if (source.rows > 1) {
            // A window over all rows of an image.
            const auto rows = static_cast<std::uint32_t>(source.rows);
            step.window = ir::Window{.kernel_width = rows};
            step.image = {.width = rows, .channels = static_cast<std::uint32_t>(source.columns)};
            step.output = {.channels = view.output_map().channels};
        }
        add_product(view, std::move(step));
    }

    /// The elements of all data inputs side by side.
    TensorId joined_inputs(const NodeView& view) {
        std::vector<TensorId> sources;
        RowBox joined;
        std::uint64_t elements = 0;
        for (std::size_t i = 0; i < view.data_inputs(); ++i) {
            TensorId source = tensor_of(view.node().inputs[i]);
            if (tensor(source).rows > lanes()) {
                const std::uint64_t all = tensor(source).rows * tensor(source).columns;
                const TensorId row = new_tensor(tensor(source).name, {1, all}, tensor(source).is_shared);
                add_reshape(source, row);
                source = row;
            }
            sources.push_back(source);
            for (std::uint64_t row = 0; row < tensor(source).rows; ++row) {
                joined.columns.push_back({.to = elements,
                                          .count = tensor(source).columns,
                                          .source = static_cast<std::uint32_t>(i),
                                          .row = row});
                elements += tensor(source).columns;
            }
        }
        const TensorId made = new_tensor(view.node().name, {1, elements}, !view.output().has_batch());
        add_movement(sources, {.boxes = {std::move(joined)}}, made);
        return made;
    }

    void add_convolution(const NodeView& view) {
        const ir::Node& node = view.node();
        if (node.integer("groups") > 1) return add_groups(view);
        Step step;
        step.source = tensor_of(node.inputs[0]);
        const ir::Window window = ir::window_of(node);
        if (window != ir::Window{}) {
            step.window = window;
            step.reads_lines = side_by_side_.contains(node.inputs[0]);
            step.image = view.input_map();
            step.output = view.output_map();
        }
        add_product(view, std::move(step));
    }

    /// Each group by itself, and their results side by side.
    void add_groups(const NodeView& view) {
        const ir::Node& node = view.node();
        const auto groups = static_cast<std::uint64_t>(node.integer("groups"));
        const ir::FeatureMap image = view.input_map();
        const ir::FeatureMap output = view.output_map();
        const Value* const weights = view.constant(0);
        if (view.parameter(1) != nullptr) throw std::logic_error("a product with a bias");
        const std::uint64_t channels = image.channels / groups;
        const std::uint64_t filters = output.channels / groups;
        const MatrixShape all = matrix_of(weights->shape);
        const std::vector<std::uint32_t> all_words = words_of(*weights);
        const TensorId source = tensor_of(node.inputs[0]);
        const bool is_shared = !view.output().has_batch();
        std::vector<TensorId> results;
        const std::uint64_t rows = matrix_of(view.output().shape).rows;
        RowBox joined = all_rows(rows);
        for (std::uint64_t group = 0; group < groups; ++group) {
            Step step{.kind = StepKind::Product};
            step.source = columns_of(source, group * channels, channels);
            std::vector<std::uint32_t> words;
            if (!all_words.empty()) {
                for (std::uint64_t row = 0; row < all.rows; ++row) {
                    const auto first =
                        all_words.begin() + static_cast<std::ptrdiff_t>(row * all.columns + group * filters);
                    words.insert(words.end(), first, first + static_cast<std::ptrdiff_t>(filters));
                }
            }
            step.weights = new_constant(weights->name, {all.rows, filters}, std::move(words));
            tensor(step.weights).is_weights = true;
            step.passes = passes_of(node);
            step.window = ir::window_of(node);
            step.image = {image.height, image.width, static_cast<std::uint32_t>(channels)};
            step.output = {output.height, output.width, static_cast<std::uint32_t>(filters)};
            step.result = new_tensor(node.name, {rows, filters}, is_shared);
            results.push_back(step.result);
            add_step(std::move(step));
            joined.columns.push_back({.to = group * filters,
                                      .count = filters,
                                      .source = static_cast<std::uint32_t>(group),
                                      .apart = {1}});
        }
        const TensorId made = new_tensor(node.output());
        add_movement(results, {.boxes = {std::move(joined)}}, made);
        tensors_.emplace(node.output(), made);
    }

    void add_depthwise(const NodeView& view) {
        const ir::Node& node = view.node();
        if (node.integer("in_order") == 0) throw std::logic_error("a depthwise convolution in any order");
        if (view.parameter(1) != nullptr) throw std::logic_error("a product with a bias");
        Step step{.kind = StepKind::Depthwise};
        step.window = ir::window_of(node);
        step.image = view.input_map();
        step.output = view.output_map();
        step.source = tensor_of(node.inputs[0]);
        const std::uint32_t multiplier = step.output.channels / step.image.channels;
        if (multiplier > 1) step.source = repeated_channels(step.source, multiplier);
        step.image.channels = step.output.channels;
        static_cast<void>(view.constant(0));
        step.weights = tensor_of(node.inputs[view.data_inputs()]);
        step.result = new_tensor(node.output());
        tensors_.emplace(node.output(), step.result);
        finish_value(node.output(), std::move(step));
    }

    /// Each channel several times.
    TensorId repeated_channels(TensorId source, std::uint32_t times) {
        const std::uint64_t columns = tensor(source).columns * times;
        const TensorId made =
            new_tensor(tensor(source).name, {tensor(source).rows, columns}, tensor(source).is_shared);
        RowBox box = all_rows(tensor(source).rows);
        for (std::uint64_t column = 0; column < columns; ++column)
            box.columns.push_back({.to = column, .source = 0, .from = column / times, .apart = {1}});
        add_movement({source}, {.boxes = {std::move(box)}}, made);
        return made;
    }

    // Reductions.

    void add_windows(const NodeView& view) {
        const ir::Node& node = view.node();
        Step step{.kind = StepKind::Windows};
        step.reduction = operators::word_reduction_of(node);
        step.window = ir::window_of(node);
        const ir::Shape& shape = view.input().shape;
        if (ir::is_feature_map(shape)) {
            step.image = view.input_map();
            step.output = view.output_map();
        } else {
            step.image = operators::last_image(shape);
            step.output = operators::last_image(view.output().shape);
            step.inner_images = operators::leading_axes(shape, operators::image_extents).elements();
        }
        step.source = tensor_of(node.inputs[0]);
        step.result = new_tensor(node.output());
        round_reduced(view, step);
        tensors_.emplace(node.output(), step.result);
        finish_value(node.output(), std::move(step));
    }

    /// The largest or smallest bfloat16 is one; other results are rounded if they must be.
    void round_reduced(const NodeView& view, Step& step) {
        if (view.output().type != DataType::Bfloat16) return;
        const bool is_extreme = step.reduction == Reduction::Maximum || step.reduction == Reduction::Minimum;
        if (is_extreme && view.input().type == DataType::Bfloat16) return;
        step.chains.push_back(round_to_bfloat16(tensor(step.result).fills_lanes));
    }

    void add_reduction(const NodeView& view) {
        const ir::Node& node = view.node();
        if (node.integer("sum_tile") != machine_.vector_unit.lanes) {
            throw ModelError(fmt::format("it reduces blocks of {}; the machine has {} lanes",
                                         node.integer("sum_tile"), machine_.vector_unit.lanes));
        }
        const ir::Shape& shape = view.input().shape;
        std::vector<bool> is_reduced(shape.rank(), node.integers("axes").empty());
        for (const std::int64_t axis : node.integers("axes"))
            is_reduced.at(static_cast<std::size_t>(axis)) = true;
        // Axes of extent 1 don't matter.
        std::vector<std::size_t> kept;
        std::vector<std::size_t> reduced;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            if (shape[axis] > 1) (is_reduced[axis] ? reduced : kept).push_back(axis);
        }
        std::uint64_t numbers = 1;
        for (const std::size_t axis : reduced) numbers *= shape[axis];
        const std::uint64_t results = shape.elements() / numbers;
        const bool has_lanes = !reduced.empty() && reduced.back() + 1 == shape.rank();
        // The reduced axes follow each other, at the end or before the last axis.
        const std::size_t last = shape.rank() - 1;
        const auto are_last_of = [&](std::size_t end) {
            return std::ranges::none_of(kept, [&](std::size_t axis) {
                return axis < end && !reduced.empty() && axis > reduced.front();
            });
        };
        Step step{.kind = StepKind::ReduceRows};
        step.reduction = operators::word_reduction_of(node);
        const bool is_shared = !view.output().has_batch();
        MatrixShape made{results, 1};
        if (!has_lanes && shape.rank() > 0 && are_last_of(last)) {
            step.source = tensor_of(node.inputs[0]);
            step.reduced_rows = numbers;
            made = {results / shape[last], shape[last]};
        } else {
            step.kind = StepKind::ReduceLanes;
            const bool is_plain = reduced.size() == 1 && has_lanes;
            step.source = is_plain ? tensor_of(node.inputs[0])
                                   : with_last(node.inputs[0], kept, reduced, {results, numbers});
        }
        step.result = new_tensor(node.name, made, is_shared);
        tensor(step.result).fills_lanes = step.kind == StepKind::ReduceLanes;
        round_reduced(view, step);
        const MatrixShape wanted = matrix_of(view.output().shape);
        if (wanted == made) {
            tensors_.emplace(node.output(), step.result);
            return finish_value(node.output(), std::move(step));
        }
        const TensorId reduced_tensor = step.result;
        add_step(std::move(step));
        const TensorId result = new_tensor(node.output());
        add_reshape(reduced_tensor, result);
        tensors_.emplace(node.output(), result);
    }

    /// The value with some of its axes behind the others, as a matrix of these two groups.
    TensorId with_last(ValueId id, const std::vector<std::size_t>& kept,
                       const std::vector<std::size_t>& reduced, const MatrixShape& shape) {
        const Value& value = graph_.values[id];
        TensorId last = tensor_of(id);
        // Axes of extent 1 come before the others.
        std::vector<std::size_t> order;
        for (std::size_t axis = 0; axis < value.shape.rank(); ++axis) {
            if (value.shape[axis] == 1) order.push_back(axis);
        }
        order.insert(order.end(), kept.begin(), kept.end());
        order.insert(order.end(), reduced.begin(), reduced.end());
        if (!std::ranges::is_sorted(order)) {
            const std::uint64_t columns = value.shape[order.back()];
            const TensorId permuted =
                new_tensor(value.name, {value.shape.elements() / columns, columns}, !value.has_batch());
            add_movement({last}, permuted_axes(value.shape, order, lanes()), permuted);
            last = permuted;
        }
        if (MatrixShape{tensor(last).rows, tensor(last).columns} == shape) return last;
        const TensorId made = new_tensor(value.name, shape, !value.has_batch());
        add_reshape(last, made);
        return made;
    }

    // Sums over cores.

    void add_all_reduce(const NodeView& view) {
        const ir::Node& node = view.node();
        if (node.integer("parts") != machine_.cores()) {
            throw ModelError(
                fmt::format("parts is {}; machine {} has {}, and there must be one part for each",
                            node.integer("parts"), machine_.name, counted(machine_.cores(), "core")));
        }
        Step step{.kind = StepKind::AllReduce};
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            step.sources.push_back(tensor_of(node.inputs[i]));
            step.results.push_back(new_tensor(node.outputs[i]));
            tensor(step.sources.back()).is_moved = true;
            tensor(step.results.back()).is_moved = true;
            tensors_.emplace(node.outputs[i], step.results.back());
        }
        step.result = step.results.front();
        add_step(std::move(step));
    }

    // Movements.

    void add_movement(const NodeView& view) {
        const ir::Node& node = view.node();
        if (node.is("reshape") || node.is("identity") ||
            (node.is("expand") && view.input().shape.elements() == view.output().shape.elements())) {
            require_words(view.input());
            if (matrix_of(view.input().shape) == matrix_of(view.output().shape)) {
                tensors_.emplace(node.output(), tensor_of(node.inputs[0]));
                if (const auto found = producers_.find(node.inputs[0]);
                    found != producers_.end() && readers_[node.inputs[0]].size() == 1 &&
                    !ir::is_output(graph_, node.inputs[0])) {
                    producers_.emplace(node.output(), found->second);
                }
                return;
            }
            reshaped_.emplace(node.output(), node.inputs[0]);
            return;
        }
        const std::vector<std::size_t> sources = moved_inputs(view);
        std::vector<TensorId> tensors;
        if (auto movement = movement_of(view, lanes())) {
            for (const ValueId input : node.inputs) tensors.push_back(tensor_of(input));
            const TensorId made = new_tensor(node.output());
            add_movement(tensors, std::move(*movement), made);
            tensors_.emplace(node.output(), made);
            return;
        }
        for (const ValueId output : node.outputs) {
            const std::uint64_t elements = graph_.values[output].shape.elements();
            if (elements <= most_moved_one_by_one) continue;
            throw ModelError(fmt::format("{} has {} elements, which {} moves one by one; there may be {}",
                                         graph_.values[output].name, elements, node.op->name(),
                                         most_moved_one_by_one));
        }
        for (const std::size_t i : sources) tensors.push_back(tensor_of(node.inputs[i]));
        const std::vector<OriginMap> origins = origins_of(view, sources);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const TensorId made = new_tensor(node.outputs[i]);
            add_move(tensors, origins[i], made);
            tensors_.emplace(node.outputs[i], made);
        }
    }

    /// Closes the gaps of steps that moved behind others, and finds how long tensors live.
    void finish() {
        for (std::optional<Step>& step : steps_) {
            if (step) network_.steps.push_back(std::move(*step));
        }
        keep_worked_layers();
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
    }

    /// Layers without a step of their own are part of others.
    void keep_worked_layers() {
        std::vector<std::optional<std::uint32_t>> places(network_.layers.size());
        for (const Step& step : network_.steps) places[step.layer] = 0;
        std::vector<Layer> kept;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (!places[i]) continue;
            places[i] = static_cast<std::uint32_t>(kept.size());
            kept.push_back(std::move(network_.layers[i]));
        }
        for (Step& step : network_.steps) step.layer = *places[step.layer];
        network_.layers = std::move(kept);
    }

    const ir::Graph& graph_;
    const machine::MachineConfig& machine_;
    const std::vector<std::vector<ir::NodeId>> readers_;
    Network network_;
    std::vector<std::optional<Step>> steps_;
    std::map<ValueId, TensorId> tensors_;
    /// By constant, and whether its tiles are packed.
    using Weights = std::map<std::pair<ValueId, bool>, TensorId>;
    Weights weights_;
    Weights transposed_weights_;
    std::map<ValueId, MatrixShape> side_by_side_;  ///< images with several pixels in a row
    std::map<ValueId, ValueId> reshaped_;          ///< values with the elements of others
    std::map<ValueId, std::size_t> producers_;     ///< of `steps_`: those that a chain may follow
};

}  // namespace

ChainUse round_to_bfloat16(bool fills_lanes) {
    return {.operands = {Operand{}},
            .steps = {{.operation = WordOperation::RoundToBfloat16, .operands = {0}}},
            .fills_lanes = fills_lanes};
}

MatrixShape matrix_of(const ir::Shape& shape) {
    if (shape.rank() == 0) return {};
    const std::uint64_t columns = shape[shape.rank() - 1];
    return {.rows = shape.elements() / columns, .columns = columns};
}

std::vector<TensorId> read_by(const Step& step) {
    std::vector<TensorId> read = step.sources;
    if (step.kind != StepKind::Chain && step.sources.empty()) read.push_back(step.source);
    if (step.kind == StepKind::Product || step.kind == StepKind::Depthwise) read.push_back(step.weights);
    if (step.kind == StepKind::SelectAndScatter) read.push_back(step.scattered);
    for (const ChainUse& chain : step.chains) {
        for (const Operand& operand : chain.operands) {
            if (operand.kind != OperandKind::Before) read.push_back(operand.tensor);
        }
    }
    return read;
}

std::vector<TensorId> written_by(const Step& step) {
    return step.results.empty() ? std::vector{step.result} : step.results;
}

Network make_network(const ir::Graph& graph, const machine::MachineConfig& machine, std::uint64_t images,
                     bool by_lines) {
    return Builder(graph, machine, images).build(by_lines);
}

}  // namespace systole::tensor_core
