#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/frontend/hlo/module.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/operator.h"
#include "compiler/ir/word_expression.h"

/// From a program's instructions to the nodes of a graph of words (docs/hlo.md).
namespace systole::hlo {

/// The whole numbers from `low` to `high`.
struct Interval {
    std::int64_t low = 0;
    std::int64_t high = 0;

    bool operator==(const Interval&) const = default;
};

/// From the least to the largest number of both; nullopt if one of them may be any number.
std::optional<Interval> united(const std::optional<Interval>& a, const std::optional<Interval>& b);

/// An array of the program as a value of the graph: 1 x its dimensions. Along axes where all elements are
/// equal, as broadcasts make them, the value has an extent of 1 instead. A value of one element may have any
/// rank; that of all others is 1 + that of the array. The value's number format is graph_type(type).
struct Array {
    ir::ValueId id = 0;
    ElementType type = ElementType::F32;
    Numbers dimensions{};
    /// Of 64-bit integers: what they can be; none: any number. Their words are the lower 32 bits.
    std::optional<Interval> range{};
    /// The array that all replicas have together, of which this is the part of one; the dimensions are those
    /// of the part. Only what makes parts of it, or leaves the program, may read it.
    bool is_global = false;
    std::optional<std::uint32_t> split_axis{};  ///< of a global array: none: all replicas have the same
};

/// The arrays of a value: one, or all those in a tuple in their order. Readers of a value share them: a tuple
/// may have many parts, and a reader for each.
using Arrays = std::vector<Array>;
using SharedArrays = std::shared_ptr<const Arrays>;

/// An instruction that is being mapped, with its operands.
struct Operation {
    const Computation& computation;
    const Instruction& instruction;
    std::span<const SharedArrays> operands;
    /// In a computation of single numbers that is applied to whole arrays: their dimensions.
    const Numbers* lifted = nullptr;

    const Array& operand(std::size_t i) const { return operands[i]->front(); }
    /// The arrays of all operands, one after the other.
    Arrays all_arrays() const;
    template <typename Kind>
    const Kind& attributes() const {
        return attributes_of<Kind>(instruction);
    }
};

using ir::WordFormula;

/// Nodes that were appended one after the other: from `first` up to, without it, `end`.
struct NodeRange {
    std::size_t first = 0;
    std::size_t end = 0;
};

/// What programs ask for that the machine does the long way (ir::Detours), by the nodes that it became.
struct DetourNotes {
    /// A lookup of elements at places from data.
    struct Lookup {
        NodeRange nodes;
        std::uint64_t found = 0;
        std::uint64_t compared = 0;
    };
    std::vector<std::vector<NodeRange>> choices;  ///< by branch; those within a branch before their choice
    std::vector<Lookup> lookups;
};

/// Counts what of it the outputs of the graph need.
ir::Detours count_detours(const ir::Graph& graph, const DetourNotes& notes);

/// The number format of an array's elements in the graph, and in files.
DataType graph_type(ElementType type);
DataType file_type(ElementType type);

/// Builds the graph. Faults are thrown as ModelError, without the instruction's place.
class GraphMaker {
public:
    GraphMaker(const Module& module, const ir::OperatorSet& operators);

    ir::Graph make() &&;

    // For the rules of opcodes.

    const Module& module() const { return module_; }
    const ir::Value& value(ir::ValueId id) const { return graph_.values[id]; }
    const Shape& result_of(const Operation& operation) const {
        return module_.shape_of(operation.instruction);
    }

    /// Appends a node, or the constant that it computes from constants. Returns its first result.
    ir::ValueId append(std::string_view op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs, DataType type);
    /// The same with several results.
    std::vector<ir::ValueId> append_all(std::string_view op, std::vector<ir::NamedAttribute> attributes,
                                        std::vector<ir::ValueId> inputs, std::vector<DataType> types);
    /// An array with these elements; one number if all are equal.
    Array constant(ElementType type, const Numbers& dimensions, std::vector<std::uint32_t> words);
    Array constant(ElementType type, const Numbers& dimensions, std::uint32_t word) {
        return constant(type, dimensions, std::vector{word});
    }
    /// The array of a constant instruction, which `make` gives, made once.
    Array constant_of(const Instruction& instruction, const std::function<Array()>& make);
    /// The words of an array that is a constant, one by one; nullopt if it is none.
    std::optional<std::vector<std::uint32_t>> words_of(const Array& array) const;
    /// The word that all elements of a constant have.
    std::optional<std::uint32_t> word_of(const Array& array) const;

    /// Element-wise work; operands are broadcast as NumPy does it. The value has the type's number format.
    Array chain(ElementType type, const Numbers& dimensions, const std::vector<Array>& operands,
                const WordFormula& formula);
    /// The array with all its elements in the value.
    Array whole(const Array& array);
    /// The value of the whole array, of its dimensions.
    ir::ValueId value_of(const Array& array);
    /// The same elements in order, in other dimensions.
    Array reshape(const Array& array, const Numbers& dimensions);
    /// Axis i of the result is axis axes[i].
    Array transpose(const Array& array, const Numbers& axes);
    /// Undoes `transpose`: an array of these dimensions, of its elements in the order of the axes.
    Array transpose_back(const Array& array, const Numbers& axes, const Numbers& dimensions);
    /// Elements first, first + step, ... along each axis.
    Array slice(const Array& array, const Numbers& first, const Numbers& step, const Numbers& count);
    /// Neighbours along one axis.
    Array part(const Array& array, std::size_t axis, std::int64_t first, std::int64_t count);
    /// Reduced along axes by one of the machine's reductions; the axes keep one element.
    Array reduce(std::string_view reduction, const Array& array, const Numbers& axes);
    /// The elements of `yes` where the truth holds, elsewhere those of `no`.
    Array select(const Array& truth, const Array& yes, const Array& no);
    /// A word before and behind each axis, and between elements; negative edges cut off.
    Array pad(const Array& array, std::span<const PaddingDimension> padding, const Array& word);
    Array concatenate(const std::vector<Array>& arrays, std::size_t axis);
    /// 0, 1, ... along an axis.
    Array iota(ElementType type, const Numbers& dimensions, std::size_t axis);

    /// The results of a computation for these arguments. `lifted`: see Operation.
    SharedArrays evaluate(ComputationId called, std::vector<SharedArrays> arguments,
                          const Numbers* lifted = nullptr);
    /// The nodes so far.
    std::size_t nodes() const { return graph_.nodes.size(); }
    /// Notes that data choose one of these branches, all of which have been computed.
    void note_choice(std::vector<NodeRange> branches) { notes_.choices.push_back(std::move(branches)); }
    /// Notes that elements at places from data have been looked up by the nodes from `first` on.
    void note_lookup(std::size_t first, std::uint64_t found, std::uint64_t compared) {
        notes_.lookups.push_back({{first, nodes()}, found, compared});
    }
    /// Where the arrays of each part of a tuple begin among all of its arrays, and behind them their number.
    const std::vector<std::size_t>& part_places(ShapeId tuple);

private:
    /// The scope of an instruction: as the file has it, and with those of the calls around it before it.
    struct PlacedScope {
        std::string stated = {};
        std::string path = {};
        bool is_backward = false;
    };

    Arrays map(const Operation& operation);
    void enter(const Instruction& instruction);
    void count_instructions(std::size_t count);
    void count_constant(std::size_t elements);
    /// Whether the last node is computed now, if all that it reads is known.
    bool folds(const ir::Node& node);
    ir::ValueId reshaped(ir::ValueId id, const ir::Shape& shape);
    /// `pad`, but for the range.
    Array padded(const Array& array, std::span<const PaddingDimension> padding, const Array& word);
    std::vector<SharedArrays> make_inputs();
    void set_outputs(const Arrays& results);

    const Module& module_;
    const ir::OperatorSet& operators_;
    ir::Graph graph_;
    DetourNotes notes_;
    PlacedScope call_;                     ///< of the innermost call
    PlacedScope scope_;                    ///< of the instruction that is being mapped
    std::size_t calls_ = 0;                ///< within each other
    std::string layer_;                    ///< of the nodes that are appended
    std::uint64_t mapped_ = 0;             ///< instructions
    std::uint64_t constant_elements_ = 0;  ///< of all constants that have been made
    std::uint64_t folded_ = 0;             ///< operations on constants that have been computed
    std::map<std::pair<DataType, std::uint32_t>, ir::ValueId> numbers_;  ///< constants of one number
    std::map<ir::ValueId, ir::ValueId> reshapes_;  ///< of results of reshapes: what they reshape
    /// Constants that are there: those of instructions, and numbers 0, 1, ... by their count, the rank of
    /// their array and their axis.
    std::map<const Instruction*, Array> constants_;
    std::map<std::array<std::size_t, 3>, Array> ranges_;
    std::map<ShapeId, std::vector<std::size_t>> part_places_;
};

/// An axis as an index.
inline std::size_t place(std::int64_t axis) {
    return static_cast<std::size_t>(axis);
}

/// The extents of a value of an array's dimensions. Throws ModelError if the graph has no such arrays.
ir::Shape graph_shape(std::span<const std::int64_t> dimensions);

// The rules, by families.

/// The results of an instruction. Faults are thrown without its place.
Arrays map_instruction(GraphMaker& maker, const Operation& operation);

// ranges.cpp
/// The type with which the words of numbers are computed: of a 64-bit integer, that of its lower half. Throws
/// ModelError unless this has room for all that the numbers can be.
ElementType number_in_32_bits(const GraphMaker& maker, const Array& array);
/// The range of a result of 64-bit integers; nullopt: it may be any number.
std::optional<Interval> result_range(const GraphMaker& maker, const Operation& operation, ElementType type);
/// Whether the lower half of a result depends on lower halves alone.
bool needs_lower_halves(Opcode opcode, ElementType to);

// element_wise.cpp
Array converted(GraphMaker& maker, const Array& array, ElementType to);
/// The float16 whose bits the integers are.
Array floats_of_half_bits(GraphMaker& maker, const Array& bits);
ir::Word compared(ElementType type, const Compare& compare, const ir::Word& a, const ir::Word& b);
Arrays map_element_wise(GraphMaker& maker, const Operation& operation);
Arrays map_bitcast_convert(GraphMaker& maker, const Operation& operation);
/// An operation of two words that is commutative and associative, as reductions take it.
ir::Word combined(Opcode opcode, ElementType type, const ir::Word& a, const ir::Word& b);

// movement.cpp
Arrays map_broadcast(GraphMaker& maker, const Operation& operation);
Arrays map_reshape(GraphMaker& maker, const Operation& operation);
Arrays map_transpose(GraphMaker& maker, const Operation& operation);
Arrays map_reverse(GraphMaker& maker, const Operation& operation);
Arrays map_slice(GraphMaker& maker, const Operation& operation);
Arrays map_pad(GraphMaker& maker, const Operation& operation);
Arrays map_concatenate(GraphMaker& maker, const Operation& operation);
Arrays map_iota(GraphMaker& maker, const Operation& operation);
Arrays map_constant(GraphMaker& maker, const Operation& operation);

// products.cpp
Arrays map_dot(GraphMaker& maker, const Operation& operation);
Arrays map_convolution(GraphMaker& maker, const Operation& operation);

// indexing.cpp
Arrays map_dynamic_slice(GraphMaker& maker, const Operation& operation);
Arrays map_dynamic_update_slice(GraphMaker& maker, const Operation& operation);
Arrays map_gather(GraphMaker& maker, const Operation& operation);
Arrays map_scatter(GraphMaker& maker, const Operation& operation);

// sorting.cpp
Arrays map_sort(GraphMaker& maker, const Operation& operation);
Arrays map_topk(GraphMaker& maker, const Operation& operation);

// reductions.cpp
/// The operation of a computation that is one instruction on its two parameters.
std::optional<Opcode> only_operation(const Computation& computation);
/// What the machine reduces words by, and the word that changes no other one.
struct MachineReduction {
    std::string_view name = {};  ///< as nodes have it
    std::uint32_t neutral = 0;
};
std::optional<MachineReduction> machine_reduction(Opcode opcode, ElementType type);
/// Throws ModelError for 64-bit integers.
void require_32_bits(const Array& array);
/// What narrow types make of a result of the machine's reduction.
Array fitted_result(GraphMaker& maker, const Array& array);
Arrays map_reduce(GraphMaker& maker, const Operation& operation);
Arrays map_reduce_window(GraphMaker& maker, const Operation& operation);
Arrays map_select_and_scatter(GraphMaker& maker, const Operation& operation);

// control.cpp
Arrays map_call(GraphMaker& maker, const Operation& operation);
Arrays map_map(GraphMaker& maker, const Operation& operation);
Arrays map_while(GraphMaker& maker, const Operation& operation);
Arrays map_conditional(GraphMaker& maker, const Operation& operation);
Arrays map_same(GraphMaker& maker, const Operation& operation);
Arrays map_get_tuple_element(GraphMaker& maker, const Operation& operation);

// collectives.cpp
Arrays map_all_reduce(GraphMaker& maker, const Operation& operation);
Arrays map_custom_call(GraphMaker& maker, const Operation& operation);
/// Throws ModelError unless device i has part i of each array that is split.
void check_orders_of_parts(const Module& module);
/// Of the entry's parameters that are arrays of all replicas, the shape of the part that a replica has.
std::map<InstructionId, ShapeId> parts_of_inputs(const Module& module);
/// The array that all replicas have together, of which each has such a part.
Array global_array(const Module& module, const Shape& whole, const Shape& part);
Arrays map_device_number(GraphMaker& maker, const Operation& operation);

}  // namespace systole::hlo
