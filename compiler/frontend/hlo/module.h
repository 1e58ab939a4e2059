#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/frontend/hlo/opcode.h"
#include "compiler/frontend/hlo/shape.h"

namespace systole::hlo {

/// The place of a computation in its module, and that of an instruction in its computation.
using ComputationId = std::uint32_t;
using InstructionId = std::uint32_t;
using ScopeId = std::uint32_t;

using Numbers = std::vector<std::int64_t>;

// The attributes of instructions. Dimensions are numbers of axes, checked against the operands.

struct Parameter {
    std::uint32_t number = 0;
};
struct Constant {
    std::vector<std::uint8_t> bytes{};  ///< row-major, little endian
};
struct TupleElement {
    std::uint32_t index = 0;
};
/// Of broadcast, concatenate, iota, map, reduce, reverse, transpose: the axes, in the operation's own sense.
struct Dimensions {
    Numbers dimensions{};
};
struct SliceDimension {
    std::int64_t start = 0;
    std::int64_t limit = 0;
    std::int64_t stride = 1;
};
struct Slice {
    std::vector<SliceDimension> dimensions{};
};
struct DynamicSlice {
    Numbers sizes{};
};
/// Edges may be negative: they cut off.
struct PaddingDimension {
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::int64_t interior = 0;
};
struct Padding {
    std::vector<PaddingDimension> dimensions{};
};
/// In how many parts of bfloat16 a product of floats is computed: 3 or 6 products, or as the machine does.
enum class Precision : std::uint8_t { Default, High, Highest };
struct Dot {
    Numbers left_contracting{};
    Numbers right_contracting{};
    Numbers left_batch{};
    Numbers right_batch{};
    std::vector<Precision> precision{};  ///< of each operand; none: Default
    /// An algorithm states the precision: Default is one product, on every machine.
    bool has_algorithm = false;
};
struct WindowDimension {
    std::int64_t size = 1;
    std::int64_t stride = 1;
    std::int64_t padding_low = 0;  ///< may be negative
    std::int64_t padding_high = 0;
    std::int64_t window_dilation = 1;
    std::int64_t base_dilation = 1;
    bool is_reversed = false;
};
/// Of reduce-window and select-and-scatter.
struct Window {
    std::vector<WindowDimension> dimensions{};
};
/// The axes of an operand, or of the result, of a convolution.
struct ConvolutionAxes {
    std::int64_t batch = 0;    ///< of the kernel: its output features
    std::int64_t feature = 0;  ///< of the kernel: its input features
    Numbers spatial{};
};
struct Convolution {
    std::vector<WindowDimension> window{};
    ConvolutionAxes input{};
    ConvolutionAxes kernel{};
    ConvolutionAxes output{};
    std::int64_t feature_groups = 1;
    std::int64_t batch_groups = 1;
    std::vector<Precision> precision{};
};
enum class Direction : std::uint8_t { Eq, Ne, Ge, Gt, Le, Lt };
/// As the file states it; Default: by the type of the operands. TotalOrder: floats with -NaN < -inf < -0 < +0
/// < inf < NaN.
enum class ComparisonType : std::uint8_t { Default, Float, TotalOrder, Signed, Unsigned };
/// In files and messages.
inline constexpr std::array<std::string_view, 5> comparison_type_names{"", "FLOAT", "TOTALORDER", "SIGNED",
                                                                       "UNSIGNED"};
struct Compare {
    Direction direction = Direction::Eq;
    ComparisonType type = ComparisonType::Default;
};
struct Gather {
    Numbers offset_axes{};
    Numbers collapsed_axes{};
    Numbers start_index_map{};
    Numbers operand_batch_axes{};
    Numbers index_batch_axes{};
    std::int64_t index_vector_axis = 0;
    Numbers slice_sizes{};
    bool indices_are_sorted = false;
};
struct Scatter {
    Numbers update_window_axes{};
    Numbers inserted_window_axes{};
    Numbers scatter_axes_to_operand_axes{};
    Numbers operand_batch_axes{};
    Numbers index_batch_axes{};
    std::int64_t index_vector_axis = 0;
    bool indices_are_sorted = false;
    bool indices_are_unique = false;
};
struct Sort {
    std::int64_t axis = 0;
    bool is_stable = false;
};
struct Topk {
    std::int64_t k = 0;
    bool is_largest = false;
};
/// Of all-reduce, all-gather, reduce-scatter, all-to-all.
struct Collective {
    std::vector<std::vector<std::uint32_t>> groups{};  ///< of devices; none: all together
    std::int64_t channel = 0;                          ///< 0: none
    bool has_global_devices = false;                   ///< numbers count replicas x partitions
    std::int64_t axis = 0;                             ///< that is joined or split
};
struct Permutation {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs{};  ///< source, target
    std::int64_t channel = 0;
};
enum class RandomAlgorithm : std::uint8_t { Default, Threefry, Philox };
struct RandomBits {
    RandomAlgorithm algorithm = RandomAlgorithm::Default;
};
struct ReducedPrecision {
    std::int32_t exponent_bits = 0;
    std::int32_t mantissa_bits = 0;
};
struct Cholesky {
    bool is_lower = false;
};
struct TriangularSolve {
    bool is_left_side = false;
    bool is_lower = false;
    bool has_unit_diagonal = false;
    bool is_transposed = false;
};
struct BatchNorm {
    float epsilon = 0;
    std::int64_t axis = 0;  ///< of the features
};
/// What stands between a whole array and the parts that replicas have of it. Its shardings are frontend
/// attributes (xla.sdy) or the instruction's own (SPMD).
enum class CustomTarget : std::uint8_t {
    GlobalToLocalShape,
    LocalToGlobalShape,
    FullToShardShape,
    ShardToFullShape,
    Sharding,
};
struct CustomCall {
    CustomTarget target = CustomTarget::Sharding;
};

using Attributes =
    std::variant<Parameter, Constant, TupleElement, Dimensions, Slice, DynamicSlice, Padding, Dot,
                 Convolution, Window, Compare, Gather, Scatter, Sort, Topk, Collective, Permutation,
                 RandomBits, ReducedPrecision, Cholesky, TriangularSolve, BatchNorm, CustomCall>;

/// How an array lies on devices.
struct Sharding {
    enum class Kind : std::uint8_t { Replicated, OneDevice, Tuple, Tiled, Manual, Unknown };
    Kind kind = Kind::Replicated;
    Numbers tiles{};                       ///< of Tiled: parts along each axis, then those of `last_tiles`
    std::vector<std::uint32_t> devices{};  ///< of Tiled: row-major over `tiles`; of OneDevice: the one
    std::vector<Kind> last_tiles{};        ///< what the tiles behind the array's axes mean
    std::vector<Sharding> parts{};         ///< of Tuple: of all arrays in it, also in tuples inside of it
};
/// In messages and texts; types in files are places here.
inline constexpr std::array<std::string_view, 6> sharding_kind_names{"replicated", "one_device", "tuple",
                                                                     "tiled",      "manual",     "unknown"};

/// A grid of devices, which are numbered row-major.
struct MeshAxis {
    std::string name{};
    std::uint32_t size = 1;
};
struct Mesh {
    std::string name{};
    std::vector<MeshAxis> axes{};
};

/// Pairs of key and text, in the order of the keys: what the program says to the compiler.
using FrontendAttributes = std::vector<std::pair<std::string, std::string>>;

/// Where an instruction comes from: the path of the program's named scopes, and whether it belongs to the
/// gradient.
struct Scope {
    std::string path{};
    bool is_backward = false;

    bool operator==(const Scope&) const = default;
};

struct Instruction {
    std::string name{};
    Opcode opcode = Opcode::Tuple;
    ShapeId shape = 0;
    std::vector<InstructionId> operands{};  ///< all before the instruction itself
    std::vector<ComputationId> called{};    ///< all before its own computation; of while: body, condition
    ScopeId scope = 0;
    std::unique_ptr<const Attributes> attributes{};  ///< null for opcodes without any
    std::unique_ptr<const Sharding> sharding{};      ///< null where the file has none
    FrontendAttributes frontend{};
};

/// The text of a frontend attribute; nullopt if there is none.
std::optional<std::string_view> find_attribute(const FrontendAttributes& attributes, std::string_view key);

/// The attributes of an instruction whose opcode has this kind.
template <typename Kind>
const Kind& attributes_of(const Instruction& instruction) {
    return std::get<Kind>(*instruction.attributes);
}

struct Computation {
    std::string name{};
    std::vector<Instruction> instructions{};  ///< operands come before their readers
    std::vector<InstructionId> parameters{};  ///< by their numbers
    InstructionId root = 0;
};

/// An output of the entry that takes the place of one of its inputs. Paths lead into tuples.
struct Alias {
    std::vector<std::uint32_t> output{};
    std::uint32_t parameter = 0;
    std::vector<std::uint32_t> input{};
};

/// A program that has been verified: every number in it is in range, every shape follows from its operands,
/// and neither instructions nor computations depend on themselves.
struct Module {
    std::string name{};
    std::vector<Computation> computations{};  ///< callees come before their callers
    ComputationId entry = 0;
    std::vector<std::string>
        arguments{};  ///< what the program calls its inputs: "state['step']"; may be empty
    std::vector<Alias> aliases{};
    ShapeTable shapes{};
    std::vector<Scope> scopes{};
    std::uint32_t devices = 1;  ///< one more than the largest number of a device in it
    FrontendAttributes frontend{};
    std::vector<Mesh> meshes{};  ///< to which shardings in frontend attributes refer
    std::vector<Sharding> parameter_shardings{};
    std::optional<Sharding> output_sharding{};

    const Computation& entry_computation() const { return computations.at(entry); }
    const Shape& shape_of(const Instruction& instruction) const { return shapes[instruction.shape]; }
};

}  // namespace systole::hlo
