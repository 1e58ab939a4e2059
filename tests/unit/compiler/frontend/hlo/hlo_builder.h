#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/hlo.h"
#include "compiler/frontend/hlo/hlo_proto.h"
#include "compiler/ir/model_error.h"

/// HLO modules made in tests, also wrong ones.
namespace systole::tests {

using Ids = std::vector<std::int64_t>;
using InstructionProto = hlo_proto::HloInstructionProto;

/// The shape of a text like "f32[2,3]" or "(f32[], s32[4])".
inline hlo_proto::ShapeProto shape_proto(std::string_view text) {
    hlo_proto::ShapeProto shape;
    if (text.front() == '(') {
        shape.set_element_type(13);
        int depth = 0;
        std::string part;
        for (const char c : text.substr(1)) {
            depth += c == '(' || c == '[' ? 1 : 0;
            const bool ends = depth == 0 && (c == ',' || c == ')');
            if (ends && !part.empty()) *shape.add_tuple_shapes() = shape_proto(part);
            if (ends) {
                part.clear();
            } else if (c != ' ') {
                part += c;
            }
            depth -= !ends && (c == ')' || c == ']') ? 1 : 0;
        }
        return shape;
    }
    const std::size_t bracket = text.find('[');
    const std::string_view name = text.substr(0, bracket);
    for (std::size_t i = 0; i < hlo::element_type_count; ++i) {
        const hlo::ElementTypeTraits& traits = hlo::traits_of(static_cast<hlo::ElementType>(i));
        if (traits.name == name) shape.set_element_type(traits.code);
    }
    if (name == "f64") shape.set_element_type(12);
    if (shape.element_type() == 0) throw std::logic_error("there is no type " + std::string(name));
    std::string number;
    for (const char c : text.substr(bracket + 1)) {
        if (c == ',' || c == ']') {
            if (!number.empty()) shape.add_dimensions(std::stoll(number));
            number.clear();
        } else {
            number += c;
        }
    }
    for (int axis = shape.dimensions_size(); axis-- > 0;) shape.mutable_layout()->add_minor_to_major(axis);
    return shape;
}

/// A computation of a module that is being made. Ids are computation x 2^32 + index.
class HloComputation {
public:
    HloComputation(hlo_proto::HloModuleProto& module, const std::string& name)
        : proto_(module.add_computations()) {
        proto_->set_name(name);
        proto_->set_id(module.computations_size());
    }

    std::int64_t add(const std::string& opcode, std::string_view shape, const Ids& operands = {},
                     const Ids& called = {}) {
        InstructionProto& made = *proto_->add_instructions();
        made.set_id((proto_->id() << 32) + proto_->instructions_size());
        made.set_name(opcode + "." + std::to_string(proto_->instructions_size()));
        made.set_opcode(opcode);
        *made.mutable_shape() = shape_proto(shape);
        for (const std::int64_t id : operands) made.add_operand_ids(id);
        for (const std::int64_t id : called) made.add_called_computation_ids(id);
        proto_->set_root_id(made.id());
        return made.id();
    }
    std::int64_t parameter(std::string_view shape) {
        const std::int64_t id = add("parameter", shape);
        last().set_parameter_number(parameters_++);
        return id;
    }
    InstructionProto& last() { return *proto_->mutable_instructions(proto_->instructions_size() - 1); }
    hlo_proto::HloComputationProto& proto() { return *proto_; }
    std::int64_t id() const { return proto_->id(); }

private:
    hlo_proto::HloComputationProto* proto_;
    std::int64_t parameters_ = 0;
};

/// A module whose entry is the computation made last.
class HloModule {
public:
    HloComputation computation(const std::string& name) {
        HloComputation made(proto_, name);
        proto_.set_entry_computation_id(made.id());
        return made;
    }
    /// A computation of two scalars.
    std::int64_t combiner(const std::string& opcode, const std::string& type = "f32",
                          const std::string& result = "") {
        HloComputation made = computation(opcode);
        const std::int64_t left = made.parameter(type + "[]");
        const std::int64_t right = made.parameter(type + "[]");
        made.add(opcode, (result.empty() ? type : result) + "[]", {left, right});
        if (opcode == "compare") made.last().set_comparison_direction("LT");
        return made.id();
    }

    hlo_proto::HloModuleProto& proto() { return proto_; }
    std::string bytes() const { return proto_.SerializeAsString(); }
    hlo::Module read() const { return hlo::parse_module(bytes()); }
    /// Why the module is refused; empty if it is not.
    std::string fault() const {
        try {
            read();
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    }

private:
    hlo_proto::HloModuleProto proto_;
};

}  // namespace systole::tests
