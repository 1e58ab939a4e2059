// Fields that are not read, or not by the opcode.
#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "compiler/frontend/hlo/attributes.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

bool is_empty(const UnknownField& field) {
    switch (field.type()) {
        case UnknownField::TYPE_VARINT:
            return field.varint() == 0;
        case UnknownField::TYPE_FIXED32:
            return field.fixed32() == 0;
        case UnknownField::TYPE_FIXED64:
            return field.fixed64() == 0;
        case UnknownField::TYPE_LENGTH_DELIMITED:
            return field.length_delimited().empty();
        case UnknownField::TYPE_GROUP:
            return field.group().empty();
    }
    return false;
}

void check_own_unknown_fields(const Message& message) {
    const UnknownFieldSet& fields = message.GetReflection()->GetUnknownFields(message);
    for (int i = 0; i < fields.field_count(); ++i) {
        const UnknownField& field = fields.field(i);
        if (is_empty(field)) continue;
        throw ModelError(fmt::format("field {} of {} is not empty; it is not supported", field.number(),
                                     message.GetDescriptor()->name()));
    }
}

bool has_own_place(const FieldDescriptor& field) {
    const auto* const type = field.message_type();
    return type == hlo_proto::HloComputationProto::descriptor() ||
           type == hlo_proto::HloInstructionProto::descriptor();
}

using Proto = hlo_proto::HloInstructionProto;

/// A field that belongs to a kind of attributes.
struct OwnField {
    AttributeKind kind;
    int number;
};

// The calls that may be composites do what their computations do, all the same. Writers of custom calls set
// counts of groups and precisions, which mean nothing for the targets that are read.
constexpr std::array<OwnField, 48> own_fields{{
    {AttributeKind::Parameter, Proto::kParameterNumberFieldNumber},
    {AttributeKind::Constant, Proto::kLiteralFieldNumber},
    {AttributeKind::TupleElement, Proto::kTupleIndexFieldNumber},
    {AttributeKind::Dimensions, Proto::kDimensionsFieldNumber},
    {AttributeKind::Slice, Proto::kSliceDimensionsFieldNumber},
    {AttributeKind::DynamicSlice, Proto::kDynamicSliceSizesFieldNumber},
    {AttributeKind::Padding, Proto::kPaddingConfigFieldNumber},
    {AttributeKind::Dot, Proto::kDotDimensionNumbersFieldNumber},
    {AttributeKind::Dot, Proto::kPrecisionConfigFieldNumber},
    {AttributeKind::Convolution, Proto::kWindowFieldNumber},
    {AttributeKind::Convolution, Proto::kConvolutionDimensionNumbersFieldNumber},
    {AttributeKind::Convolution, Proto::kFeatureGroupCountFieldNumber},
    {AttributeKind::Convolution, Proto::kBatchGroupCountFieldNumber},
    {AttributeKind::Convolution, Proto::kPrecisionConfigFieldNumber},
    {AttributeKind::Window, Proto::kWindowFieldNumber},
    {AttributeKind::Compare, Proto::kComparisonDirectionFieldNumber},
    {AttributeKind::Compare, Proto::kComparisonTypeFieldNumber},
    {AttributeKind::Gather, Proto::kGatherDimensionNumbersFieldNumber},
    {AttributeKind::Gather, Proto::kGatherSliceSizesFieldNumber},
    {AttributeKind::Gather, Proto::kIndicesAreSortedFieldNumber},
    {AttributeKind::Scatter, Proto::kScatterDimensionNumbersFieldNumber},
    {AttributeKind::Scatter, Proto::kIndicesAreSortedFieldNumber},
    {AttributeKind::Scatter, Proto::kUniqueIndicesFieldNumber},
    {AttributeKind::Sort, Proto::kDimensionsFieldNumber},
    {AttributeKind::Sort, Proto::kIsStableFieldNumber},
    {AttributeKind::Topk, Proto::kKFieldNumber},
    {AttributeKind::Topk, Proto::kLargestFieldNumber},
    {AttributeKind::Collective, Proto::kDimensionsFieldNumber},
    {AttributeKind::Collective, Proto::kChannelIdFieldNumber},
    {AttributeKind::Collective, Proto::kReplicaGroupsFieldNumber},
    {AttributeKind::Collective, Proto::kUseGlobalDeviceIdsFieldNumber},
    {AttributeKind::Collective, Proto::kCollectiveDeviceListFieldNumber},
    {AttributeKind::Permutation, Proto::kSourceTargetPairsFieldNumber},
    {AttributeKind::Permutation, Proto::kChannelIdFieldNumber},
    {AttributeKind::RandomBits, Proto::kRngAlgorithmFieldNumber},
    {AttributeKind::ReducedPrecision, Proto::kExponentBitsFieldNumber},
    {AttributeKind::ReducedPrecision, Proto::kMantissaBitsFieldNumber},
    {AttributeKind::Cholesky, Proto::kCholeskyOptionsFieldNumber},
    {AttributeKind::TriangularSolve, Proto::kTriangularSolveOptionsFieldNumber},
    {AttributeKind::BatchNorm, Proto::kEpsilonFieldNumber},
    {AttributeKind::BatchNorm, Proto::kFeatureIndexFieldNumber},
    {AttributeKind::Call, Proto::kIsCompositeFieldNumber},
    {AttributeKind::CustomCall, Proto::kCustomCallTargetFieldNumber},
    {AttributeKind::CustomCall, Proto::kCustomCallHasSideEffectFieldNumber},
    {AttributeKind::CustomCall, Proto::kCustomCallApiVersionFieldNumber},
    {AttributeKind::CustomCall, Proto::kFeatureGroupCountFieldNumber},
    {AttributeKind::CustomCall, Proto::kBatchGroupCountFieldNumber},
    {AttributeKind::CustomCall, Proto::kPrecisionConfigFieldNumber},
}};

bool is_own(int field, AttributeKind kind) {
    return std::ranges::any_of(own_fields,
                               [&](const OwnField& own) { return own.number == field && own.kind == kind; });
}

bool is_common(int field) {
    static constexpr std::array<int, 10> fields{Proto::kNameFieldNumber,
                                                Proto::kOpcodeFieldNumber,
                                                Proto::kShapeFieldNumber,
                                                Proto::kMetadataFieldNumber,
                                                Proto::kIdFieldNumber,
                                                Proto::kOperandIdsFieldNumber,
                                                Proto::kCalledComputationIdsFieldNumber,
                                                Proto::kShardingFieldNumber,
                                                Proto::kFrontendAttributesFieldNumber,
                                                Proto::kOriginalValueFieldNumber};
    return std::ranges::find(fields, field) != fields.end();
}

}  // namespace

void check_unknown_fields(const Message& message) {
    check_own_unknown_fields(message);
    const auto* const reflection = message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
        if (field->message_type() == nullptr || field->is_map() || has_own_place(*field)) continue;
        // The parser has bounded how deep messages are.
        if (!field->is_repeated()) {
            check_unknown_fields(reflection->GetMessage(message, field));
            continue;
        }
        const int size = reflection->FieldSize(message, field);
        for (int i = 0; i < size; ++i) {
            check_unknown_fields(reflection->GetRepeatedMessage(message, field, i));
        }
    }
}

void check_fields_of_opcode(const hlo_proto::HloInstructionProto& instruction, Opcode opcode) {
    const OpcodeTraits& traits = traits_of(opcode);
    std::vector<const FieldDescriptor*> fields;
    hlo_proto::HloInstructionProto::GetReflection()->ListFields(instruction, &fields);
    for (const FieldDescriptor* field : fields) {
        if (is_common(field->number()) || is_own(field->number(), traits.attributes)) continue;
        throw ModelError(fmt::format("it has field {} ({}); {} has no use for it", field->number(),
                                     field->name(), traits.name));
    }
}

}  // namespace systole::hlo
