// A table lookup for each stored number; activation functions become lookups on integers.
#include <fmt/format.h>

#include <span>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/tables.h"

namespace systole::operators {
namespace {

/// Linear interpolation between two entries of a table of 16-bit numbers, in steps of 1/128, rounded to
/// nearest, halves upwards.
std::int32_t interpolate(std::span<const std::int16_t> table, std::int32_t value) {
    const std::int32_t offset = value + 32768;
    const auto entry = static_cast<std::size_t>(offset / 128);
    const std::int32_t beyond = offset % 128;
    const std::int32_t sum = table[entry] * (128 - beyond) + table[entry + 1] * beyond + 64;
    return sum >= 0 ? sum / 128 : -((127 - sum) / 128);
}

class Lookup final : public Operator {
public:
    std::string_view name() const override { return "lookup"; }
    std::string_view summary() const override {
        return "A table lookup for each stored number; activation functions become lookups on integers. "
               "Constant: the table, of the result's type: [256], indexed by the bits of a byte; for 16-bit "
               "numbers [513], with an entry for every 128th number from -32768 on and linear interpolation.";
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        PermutedNode moved = permuted_elements(node, axes);
        moved.broadcasts_constants = false;
        return moved;
    }
    Placement placement() const override {
        return {
            .where = "activation unit: fused with matrix work if it is the only reader, else as vector work",
            .formats = "uint8 and int8; int16"};
    }

    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        node.require_inputs(1, 1);
        const std::uint32_t entries = table_entries(node.input().type);
        if (node.constant(0)->shape != ir::Shape{entries}) {
            throw ModelError(fmt::format("its table is {}; it must have {} entries",
                                         to_text(node.constant(0)->shape), entries));
        }
        return {node.input().shape};
    }
    void check_types(const ir::NodeView& node) const override {
        require_integers(node);
        if (bytes_of(node.input().type) != bytes_of(node.output().type)) {
            throw ModelError(fmt::format("it looks up {} in a table of {}; both must be as wide",
                                         name_of(node.input().type), name_of(node.output().type)));
        }
        if (node.constant(0)->type != node.output().type) {
            throw ModelError(fmt::format("its table is of {}, its result of {}; they must be the same",
                                         name_of(node.constant(0)->type), name_of(node.output().type)));
        }
        if (!node.constant(0)->constant->is_known()) throw ModelError("its table must have values");
    }
    void evaluate(const FloatCall& /*call*/) const override {
        throw std::logic_error("a lookup works on integers");
    }

    void execute(const IntegerCall& call) const override {
        const ir::Constant& table = *call.node.constant(0)->constant;
        const std::size_t count = call.batch * call.node.input().shape.elements();
        const std::int32_t* const from = call.inputs[0];
        switch (call.node.output().type) {
            case DataType::Uint8:
                return look_up_bytes(table.values<std::uint8_t>(), from, count, call.output);
            case DataType::Int8:
                return look_up_bytes(table.values<std::int8_t>(), from, count, call.output);
            case DataType::Int16:
                for (std::size_t i = 0; i < count; ++i) {
                    call.output[i] = interpolate(table.values<std::int16_t>(), from[i]);
                }
                return;
            case DataType::Uint16:
            case DataType::Int32:
            case DataType::Bfloat16:
            case DataType::Float32:
            case DataType::Uint32:
            case DataType::Float16:
            case DataType::Bool:
                break;
        }
        throw std::logic_error("there are no tables of such entries");
    }

private:
    template <typename Entry>
    static void look_up_bytes(std::span<const Entry> table, const std::int32_t* from, std::size_t count,
                              std::int32_t* to) {
        for (std::size_t i = 0; i < count; ++i) to[i] = table[static_cast<std::uint8_t>(from[i])];
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_lookup() {
    return std::make_unique<Lookup>();
}

}  // namespace systole::operators
