// Results must have the shapes that follow from the operands, opcode by opcode.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/compiler/frontend/hlo/hlo_builder.h"

namespace systole::tests {
namespace {

using Catch::EndsWith;
using Texts = std::vector<std::string>;
using Change = std::function<void(InstructionProto&)>;

/// Why a module is refused that has one instruction on parameters of these shapes.
std::string fault_of(const std::string& opcode, const std::string& result, const Texts& operands,
                     const Change& change = {}, const Texts& combiners = {}) {
    HloModule module;
    Ids called;
    for (const std::string& combiner : combiners) {
        const std::size_t space = combiner.find(' ');
        const std::string name = combiner.substr(0, space);
        called.push_back(module.combiner(name, combiner.substr(space + 1), name == "compare" ? "pred" : ""));
    }
    HloComputation entry = module.computation("main");
    Ids ids;
    for (const std::string& operand : operands) ids.push_back(entry.parameter(operand));
    entry.add(opcode, result, ids, called);
    if (change) change(entry.last());
    return module.fault();
}

Change dimensions(const Ids& axes) {
    return [axes](InstructionProto& proto) {
        for (const std::int64_t axis : axes) proto.add_dimensions(axis);
    };
}

TEST_CASE("Element-wise results have the shape of the operands", "[hlo]") {
    CHECK(fault_of("add", "f32[2,3]", {"f32[2,3]", "f32[2,3]"}).empty());
    CHECK_THAT(fault_of("add", "f32[2,3]", {"f32[2,3]", "f32[3]"}),
               EndsWith("its operands are f32[2,3] and f32[3]; they must be the same"));
    CHECK_THAT(fault_of("add", "bf16[2]", {"f32[2]", "f32[2]"}),
               EndsWith("its result is bf16[2]; by its operands it is f32[2]"));
    CHECK_THAT(fault_of("tanh", "f32[2]", {}), EndsWith("it has 0 operands; it must have 1"));
    CHECK_THAT(fault_of("add", "f32[2]", {"f32[2]"}), EndsWith("it has 1 operand; it must have 2"));
}

const Texts signed_types{"s8", "s16", "s32", "s64"};
const Texts unsigned_types{"u8", "u16", "u32", "u64"};
const Texts float_types{"f16", "bf16", "f32"};

Texts all_of(const std::vector<Texts>& lists) {
    Texts all;
    for (const Texts& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

/// The rules of XLA's shape inference (InferUnaryOpShape and InferElementwiseBinaryOpShape in
/// xla/service/shape_inference.cc): abs and sign take what has a sign, so no unsigned integers; negate takes
/// them.
TEST_CASE("Element-wise opcodes take the types that XLA gives them a meaning for", "[hlo]") {
    struct Rule {
        Texts opcodes;
        std::vector<Texts> taken;
        std::string words;
    };
    const auto rule = GENERATE(values<Rule>({
        {{"abs", "sign"}, {signed_types, float_types}, "signed integers or floats"},
        {{"negate", "subtract", "divide", "remainder", "power"},
         {signed_types, unsigned_types, float_types},
         "numbers"},
        {{"tanh", "sqrt", "exponential", "floor", "round-nearest-even", "atan2", "logistic"},
         {float_types},
         "floats"},
        {{"popcnt", "count-leading-zeros", "shift-left", "shift-right-logical", "shift-right-arithmetic"},
         {signed_types, unsigned_types},
         "integers"},
        {{"and", "or", "xor", "not"}, {{"pred"}, signed_types, unsigned_types}, "integers or pred"},
        {{"add", "multiply", "maximum", "minimum", "copy"},
         {{"pred"}, signed_types, unsigned_types, float_types},
         "pred or numbers"},
    }));
    const Texts taken = all_of(rule.taken);
    for (const std::string& opcode : rule.opcodes) {
        const std::size_t operands = hlo::traits_of(*hlo::find_opcode(opcode)).most_operands;
        for (const std::string& type : all_of({{"pred"}, signed_types, unsigned_types, float_types})) {
            const std::string shape = type + "[2]";
            INFO(opcode << " of " << shape);
            const std::string fault = fault_of(opcode, shape, Texts(operands, shape));
            if (std::find(taken.begin(), taken.end(), type) != taken.end()) {
                CHECK(fault.empty());
            } else {
                CHECK_THAT(fault, EndsWith("its operand is " + shape + "; it must be of " + rule.words));
            }
        }
    }
}

/// StableHLO's constraint C3 of compare.
TEST_CASE("Numbers are compared by the sign of their type, floats in one of two orders", "[hlo]") {
    struct Rule {
        Texts types;
        Texts taken;
        std::string words;
    };
    const auto rule = GENERATE(values<Rule>({
        {signed_types, {"SIGNED"}, "SIGNED"},
        {unsigned_types, {"UNSIGNED"}, "UNSIGNED"},
        {{"pred"}, {"UNSIGNED"}, "UNSIGNED"},
        {float_types, {"FLOAT", "TOTALORDER"}, "FLOAT or TOTALORDER"},
    }));
    for (const std::string& type : rule.types) {
        const std::string shape = type + "[2]";
        for (const std::string comparison : {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}) {
            for (const std::string direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
                INFO(direction << " " << comparison << " of " << shape);
                const std::string fault =
                    fault_of("compare", "pred[2]", {shape, shape}, [&](InstructionProto& proto) {
                        proto.set_comparison_direction(direction);
                        proto.set_comparison_type(comparison);
                    });
                const bool is_taken = comparison.empty() || std::find(rule.taken.begin(), rule.taken.end(),
                                                                      comparison) != rule.taken.end();
                if (is_taken) {
                    CHECK(fault.empty());
                } else {
                    CHECK_THAT(fault, EndsWith("its comparison_type is " + comparison + "; for " + shape +
                                               " it must be " + rule.words));
                }
            }
        }
    }
}

TEST_CASE("Comparisons, choices and limits", "[hlo]") {
    const auto with = [](const std::string& direction, const std::string& type) {
        return [=](InstructionProto& proto) {
            proto.set_comparison_direction(direction);
            proto.set_comparison_type(type);
        };
    };
    CHECK(fault_of("compare", "pred[2]", {"f32[2]", "f32[2]"}, with("GE", "TOTALORDER")).empty());
    CHECK(fault_of("compare", "pred[2]", {"u8[2]", "u8[2]"}, with("NE", "")).empty());
    CHECK_THAT(fault_of("compare", "pred[2]", {"f32[2]", "f32[2]"}, with("GE", "SIGNED")),
               EndsWith("its comparison_type is SIGNED; for f32[2] it must be FLOAT or TOTALORDER"));
    CHECK_THAT(fault_of("compare", "pred[2]", {"f32[2]", "f32[2]"}, with("", "")),
               EndsWith(R"(its comparison_direction is ""; there are EQ, NE, GE, GT, LE, LT)"));
    CHECK_THAT(
        fault_of("compare", "pred[2]", {"f32[2]", "f32[2]"}, with("LT", "PARTIAL")),
        EndsWith(R"(its comparison_type is "PARTIAL"; there are FLOAT, TOTALORDER, SIGNED, UNSIGNED)"));
    CHECK_THAT(fault_of("compare", "s8[2]", {"f32[2]", "f32[2]"}, with("LT", "")),
               EndsWith("its result is s8[2]; by its operands it is pred[2]"));

    CHECK(fault_of("select", "s8[2]", {"pred[2]", "s8[2]", "s8[2]"}).empty());
    CHECK_THAT(fault_of("select", "s8[2]", {"s8[2]", "s8[2]", "s8[2]"}),
               EndsWith("its first operand is s8[2]; it must be of type pred"));
    CHECK_THAT(fault_of("select", "s8[2]", {"pred[]", "s8[2]", "s8[2]"}),
               EndsWith("its operands are pred[] and s8[2]; their dimensions must be the same"));
    CHECK_THAT(fault_of("select", "s8[2]", {"pred[2]", "s8[2]", "u8[2]"}),
               EndsWith("its operands are s8[2] and u8[2]; they must be the same"));

    CHECK(fault_of("clamp", "f32[2]", {"f32[]", "f32[2]", "f32[2]"}).empty());
    CHECK_THAT(fault_of("clamp", "f32[2]", {"f32[]", "f32[2]", "f32[3]"}),
               EndsWith("its operands are f32[2] and f32[3]; they must be the same"));
    CHECK_THAT(fault_of("clamp", "f32[2]", {"s32[]", "f32[2]", "f32[]"}), EndsWith("they must be the same"));

    CHECK(fault_of("is-finite", "pred[2]", {"f32[2]"}).empty());
    CHECK_THAT(fault_of("is-finite", "pred[2]", {"s32[2]"}),
               EndsWith("its operand is s32[2]; it must be of floats"));
}

TEST_CASE("Conversions of numbers and of bits", "[hlo]") {
    CHECK(fault_of("convert", "s8[2,3]", {"f32[2,3]"}).empty());
    CHECK_THAT(fault_of("convert", "s8[3,2]", {"f32[2,3]"}),
               EndsWith("its result is s8[3,2]; by its operands it is s8[2,3]"));
    CHECK(fault_of("bitcast-convert", "u32[2]", {"f32[2]"}).empty());
    CHECK(fault_of("bitcast-convert", "u8[2,4]", {"f32[2]"}).empty());
    CHECK(fault_of("bitcast-convert", "f32[2]", {"u16[2,2]"}).empty());
    CHECK_THAT(fault_of("bitcast-convert", "f32[2]", {"u16[2,3]"}),
               EndsWith("its operand is u16[2,3]; its last dimension must be 2"));
    CHECK_THAT(fault_of("bitcast-convert", "f32[]", {"u16[]"}),
               EndsWith("its operand is u16[]; its last dimension must be 2"));
    CHECK_THAT(fault_of("bitcast-convert", "pred[2]", {"u8[2]"}),
               EndsWith("its operand is u8[2], its result pred[2]; both or none must be of pred"));
    const auto bits = [](int exponent, int mantissa) {
        return [=](InstructionProto& proto) {
            proto.set_exponent_bits(exponent);
            proto.set_mantissa_bits(mantissa);
        };
    };
    CHECK(fault_of("reduce-precision", "f32[2]", {"f32[2]"}, bits(8, 7)).empty());
    CHECK_THAT(fault_of("reduce-precision", "f32[2]", {"f32[2]"}, bits(0, 7)),
               EndsWith("exponent_bits is 0; it must be from 1 to 8"));
    CHECK_THAT(fault_of("reduce-precision", "f32[2]", {"f32[2]"}, bits(8, 24)),
               EndsWith("mantissa_bits is 24; it must be from 0 to 23"));
}

TEST_CASE("Moved elements", "[hlo]") {
    CHECK(fault_of("broadcast", "f32[4,2,3]", {"f32[2,3]"}, dimensions({1, 2})).empty());
    CHECK(fault_of("broadcast", "f32[3,2]", {"f32[2,3]"}, dimensions({1, 0})).empty());
    CHECK_THAT(fault_of("broadcast", "f32[4,2,3]", {"f32[2,3]"}, dimensions({0, 2})),
               EndsWith("its result is f32[4,2,3]; by its operands it is f32[2,2,3]"));
    CHECK_THAT(fault_of("broadcast", "f32[4,2,3]", {"f32[2,3]"}, dimensions({1})),
               EndsWith("it has entries for 1 dimensions of f32[2,3]; it must have one for each"));
    CHECK_THAT(fault_of("broadcast", "f32[4,2,3]", {"f32[2,3]"}, dimensions({1, 3})),
               EndsWith("a dimension of its result is 3; it must be from 0 to 2"));
    CHECK_THAT(fault_of("broadcast", "f32[2,2]", {"f32[2,2]"}, dimensions({1, 1})),
               EndsWith("a dimension of its result is 1 twice; each may be named once"));

    CHECK(fault_of("reshape", "f32[6,1]", {"f32[2,3]"}).empty());
    CHECK_THAT(
        fault_of("reshape", "f32[5]", {"f32[2,3]"}),
        EndsWith("its result is f32[5], its operand f32[2,3]; type and number of elements must be the same"));
    CHECK(fault_of("transpose", "f32[3,2]", {"f32[2,3]"}, dimensions({1, 0})).empty());
    CHECK_THAT(fault_of("transpose", "f32[2,3]", {"f32[2,3]"}, dimensions({1, 0})),
               EndsWith("its result is f32[2,3]; by its operands it is f32[3,2]"));
    CHECK_THAT(fault_of("transpose", "f32[3,2]", {"f32[2,3]"}, dimensions({1, -1})),
               EndsWith("a dimension of its operand is -1; it must be from 0 to 1"));
    CHECK(fault_of("reverse", "f32[2,3]", {"f32[2,3]"}, dimensions({1})).empty());
    CHECK_THAT(fault_of("reverse", "f32[2,3]", {"f32[2,3]"}, dimensions({2})),
               EndsWith("a dimension is 2; it must be from 0 to 1"));
    CHECK(fault_of("iota", "s32[2,3]", {}, dimensions({1})).empty());
    CHECK_THAT(fault_of("iota", "s32[2,3]", {}), EndsWith("it names 0 dimensions; it must name 1"));
    CHECK_THAT(fault_of("iota", "pred[2]", {}, dimensions({0})),
               EndsWith("its result is pred[2]; it must be of numbers"));
    CHECK(fault_of("concatenate", "f32[2,7]", {"f32[2,3]", "f32[2,4]"}, dimensions({1})).empty());
    CHECK_THAT(fault_of("concatenate", "f32[2,7]", {"f32[2,3]", "f32[1,4]"}, dimensions({1})),
               EndsWith("its operands are f32[2,3] and f32[1,4]; they may differ only in dimension 1"));
    CHECK_THAT(fault_of("concatenate", "f32[2,8]", {"f32[2,3]", "f32[2,4]"}, dimensions({1})),
               EndsWith("its result is f32[2,8]; by its operands it is f32[2,7]"));

    const auto slice = [](std::int64_t start, std::int64_t limit, std::int64_t stride) {
        return [=](InstructionProto& proto) {
            auto& dimension = *proto.add_slice_dimensions();
            dimension.set_start(start);
            dimension.set_limit(limit);
            dimension.set_stride(stride);
        };
    };
    CHECK(fault_of("slice", "f32[3]", {"f32[8]"}, slice(1, 7, 2)).empty());
    CHECK(fault_of("slice", "f32[4]", {"f32[8]"}, slice(1, 8, 2)).empty());
    CHECK_THAT(fault_of("slice", "f32[4]", {"f32[8]"}, slice(1, 9, 2)),
               EndsWith("it takes elements from 1 to before 9 in dimension 0; they must be among 8"));
    CHECK_THAT(fault_of("slice", "f32[4]", {"f32[8]"}, slice(5, 4, 1)),
               EndsWith("from 5 to before 4 in dimension 0; they must be among 8"));
    CHECK_THAT(fault_of("slice", "f32[4]", {"f32[8]"}, slice(0, 4, 0)),
               EndsWith("the stride of its slice is 0; it must be from 1 to 268435456"));

    const auto padding = [](std::int64_t low, std::int64_t high, std::int64_t interior) {
        return [=](InstructionProto& proto) {
            auto& dimension = *proto.mutable_padding_config()->add_dimensions();
            dimension.set_edge_padding_low(low);
            dimension.set_edge_padding_high(high);
            dimension.set_interior_padding(interior);
        };
    };
    CHECK(fault_of("pad", "f32[8]", {"f32[3]", "f32[]"}, padding(2, -1, 2)).empty());
    CHECK_THAT(fault_of("pad", "f32[8]", {"f32[3]", "s32[]"}, padding(2, -1, 2)),
               EndsWith("its padding value is s32[]; it must be f32[]"));
    CHECK_THAT(fault_of("pad", "f32[8]", {"f32[3]", "f32[]"}, padding(2, -1, -1)),
               EndsWith("its interior padding is -1; it must be from 0 to 268435456"));
    CHECK_THAT(fault_of("pad", "f32[0]", {"f32[3]", "f32[]"}, padding(-4, 0, 0)),
               EndsWith("its result is f32[0]; by its operands it is f32[-1]"));
    CHECK_THAT(fault_of("pad", "f32[8]", {"f32[3]", "f32[]"}, padding(std::int64_t{1} << 62, 0, 0)),
               EndsWith("it must be from -268435456 to 268435456"));
}

Change dot(const Ids& left, const Ids& right, const Ids& left_batch = {}, const Ids& right_batch = {}) {
    return [=](InstructionProto& proto) {
        auto& numbers = *proto.mutable_dot_dimension_numbers();
        for (const std::int64_t axis : left) numbers.add_lhs_contracting_dimensions(axis);
        for (const std::int64_t axis : right) numbers.add_rhs_contracting_dimensions(axis);
        for (const std::int64_t axis : left_batch) numbers.add_lhs_batch_dimensions(axis);
        for (const std::int64_t axis : right_batch) numbers.add_rhs_batch_dimensions(axis);
    };
}

TEST_CASE("Products", "[hlo]") {
    CHECK(fault_of("dot", "f32[2,4]", {"bf16[2,3]", "bf16[3,4]"}, dot({1}, {0})).empty());
    CHECK(fault_of("dot", "f32[5,2,4]", {"f32[2,5,3]", "f32[5,3,4]"}, dot({2}, {1}, {1}, {0})).empty());
    CHECK(fault_of("dot", "f32[2,3,4,5]", {"f32[2,3]", "f32[4,5]"}, dot({}, {})).empty());
    CHECK_THAT(fault_of("dot", "f32[2,4]", {"f32[2,3]", "f32[5,4]"}, dot({1}, {0})),
               EndsWith("its contracting dimensions 1 and 0 have sizes 3 and 5; they must be the same"));
    CHECK_THAT(fault_of("dot", "f32[2,4]", {"f32[2,3]", "f32[3,4]"}, dot({1}, {})),
               EndsWith("it has 1 and 0 contracting dimensions of its operands; they must be as many"));
    CHECK_THAT(fault_of("dot", "f32[2,4]", {"f32[2,3]", "f32[3,4]"}, dot({2}, {0})),
               EndsWith("a dimension of its first operand is 2; it must be from 0 to 1"));
    CHECK_THAT(fault_of("dot", "f32[2,4]", {"f32[2,3]", "f32[3,4]"}, dot({1}, {0}, {1}, {0})),
               EndsWith("a dimension of its first operand is 1 twice; each may be named once"));
    CHECK_THAT(
        fault_of("dot", "f32[2,4]", {"s8[2,3]", "f32[3,4]"}, dot({1}, {0})),
        EndsWith("it multiplies s8[2,3] by f32[3,4] into f32[2,4]; all must be floats, or all integers"));
    CHECK_THAT(fault_of("dot", "f32[4,2]", {"f32[2,3]", "f32[3,4]"}, dot({1}, {0})),
               EndsWith("its result is f32[4,2]; by its operands it is f32[2,4]"));
    CHECK_THAT(fault_of("dot", "f32[2,4]", {"f32[2,3]", "f32[3,4]"},
                        [&](InstructionProto& proto) {
                            dot({1}, {0})(proto);
                            proto.mutable_precision_config()->add_operand_precision(0);
                        }),
               EndsWith("it states 1 precision of operands; it must state 2"));
}

TEST_CASE("Dot algorithms of bfloat16 products are precisions", "[hlo]") {
    using hlo::Precision;
    const auto module = [](int algorithm, const std::string& type, const Ids& precisions = {}) {
        HloModule made;
        HloComputation entry = made.computation("main");
        const std::int64_t x = entry.parameter(type + "[2,3]");
        const std::int64_t y = entry.parameter(type + "[3,4]");
        entry.add("dot", type + "[2,4]", {x, y});
        dot({1}, {0})(entry.last());
        entry.last().mutable_precision_config()->set_algorithm(algorithm);
        for (const std::int64_t precision : precisions) {
            entry.last().mutable_precision_config()->add_operand_precision(static_cast<int>(precision));
        }
        return made;
    };
    for (int algorithm = -1; algorithm < 20; ++algorithm) {
        INFO("algorithm " << algorithm);
        const HloModule made = module(algorithm, "f32", {0, 0});
        if (algorithm == 0 || (algorithm >= 6 && algorithm <= 8)) {
            const auto precision =
                algorithm == 0 ? Precision::Default : static_cast<Precision>(algorithm - 6);
            const hlo::Module read = made.read();
            CHECK(hlo::attributes_of<hlo::Dot>(read.entry_computation().instructions[2]).precision ==
                  std::vector<Precision>{precision, precision});
        } else {
            CHECK_THAT(made.fault(), EndsWith("its dot algorithm is number " + std::to_string(algorithm) +
                                              "; those of numbers 6 to 8 are supported"));
        }
    }
    CHECK(module(8, "f32").fault().empty());
    for (const Ids& precisions : {Ids{1, 0}, Ids{0, 2}, Ids{1, 1}}) {
        CHECK_THAT(module(7, "f32", precisions).fault(),
                   EndsWith("its dot algorithm is number 7, and it states precisions " +
                            std::to_string(precisions[0]) + ", " + std::to_string(precisions[1]) +
                            "; with an algorithm they must be 0"));
    }
    for (const std::string type : {"bf16", "f16", "s8", "s32", "u32"}) {
        CHECK_THAT(module(6, type).fault(), EndsWith("its dot algorithm is number 6, its result " + type +
                                                     "[2,4]; it must be of f32, the type of its sums"));
    }
    CHECK_THAT(fault_of("convolution", "f32[1,2,2,1]", {"f32[1,2,2,1]", "f32[1,1,1,1]"},
                        [](InstructionProto& proto) { proto.mutable_precision_config()->set_algorithm(6); }),
               EndsWith("its dot algorithm is number 6; a convolution must have none"));
}

/// A window over two dimensions of 8, and what else a convolution has.
Change convolution(const Change& more = {}) {
    return [more](InstructionProto& proto) {
        for (int i = 0; i < 2; ++i) {
            auto& dimension = *proto.mutable_window()->add_dimensions();
            dimension.set_size(3);
            dimension.set_stride(2);
            dimension.set_padding_high(1);
            dimension.set_window_dilation(1);
            dimension.set_base_dilation(1);
        }
        auto& numbers = *proto.mutable_convolution_dimension_numbers();
        numbers.set_input_feature_dimension(3);
        numbers.set_output_feature_dimension(3);
        numbers.set_kernel_input_feature_dimension(2);
        numbers.set_kernel_output_feature_dimension(3);
        for (const std::int64_t axis : {1, 2}) numbers.add_input_spatial_dimensions(axis);
        for (const std::int64_t axis : {0, 1}) numbers.add_kernel_spatial_dimensions(axis);
        for (const std::int64_t axis : {1, 2}) numbers.add_output_spatial_dimensions(axis);
        if (more) more(proto);
    };
}

TEST_CASE("Convolutions", "[hlo]") {
    const Texts operands{"f32[6,8,8,4]", "f32[3,3,4,10]"};
    const std::string result = "f32[6,4,4,10]";
    CHECK(fault_of("convolution", result, operands, convolution()).empty());
    CHECK_THAT(fault_of("convolution", "f32[6,4,3,10]", operands, convolution()),
               EndsWith("its result is f32[6,4,3,10]; by its operands it is f32[6,4,4,10]"));
    const auto fault = [&](const Change& change) {
        return fault_of("convolution", result, operands, convolution(change));
    };
    CHECK_THAT(
        fault([](auto& proto) { proto.set_feature_group_count(2); }),
        EndsWith("its kernel has 4 features for each of 2 groups; together they must be the 4 of its input"));
    CHECK_THAT(fault([](auto& proto) { proto.set_batch_group_count(4); }),
               EndsWith("its output features are 10; they must be a multiple of batch_group_count, 4"));
    CHECK_THAT(fault([](auto& proto) { proto.set_batch_group_count(5); }),
               EndsWith("its input batches are 6; they must be a multiple of batch_group_count, 5"));
    CHECK_THAT(fault([](auto& proto) {
                   proto.set_batch_group_count(2);
                   proto.set_feature_group_count(2);
               }),
               EndsWith("feature_group_count is 2 and batch_group_count 2; one of them must be 1"));
    CHECK_THAT(fault_of("convolution", result, {"f32[6,8,8,4]", "f32[3,3,4,10,1]"}, convolution()),
               EndsWith("it names 4 dimensions of its kernel; it must name all 5"));
    CHECK_THAT(fault_of("convolution", result, {"f32[6,8,8,4]", "f32[3,4,10]"}, convolution([](auto& proto) {
                            auto& numbers = *proto.mutable_convolution_dimension_numbers();
                            numbers.mutable_kernel_spatial_dimensions()->RemoveLast();
                            numbers.set_kernel_input_feature_dimension(1);
                            numbers.set_kernel_output_feature_dimension(2);
                        })),
               EndsWith("it convolves f32[6,8,8,4] by f32[3,4,10] into f32[6,4,4,10]; all must have as many "
                        "dimensions"));
    CHECK_THAT(fault([](auto& proto) { proto.mutable_window()->mutable_dimensions(0)->set_size(2); }),
               EndsWith("its window is 2, 3; it must be 3, 3, as its kernel"));
    CHECK_THAT(fault([](auto& proto) { proto.mutable_window()->mutable_dimensions(0)->set_stride(0); }),
               EndsWith("the stride of its window is 0; it must be from 1 to 268435456"));
    CHECK_THAT(
        fault([](auto& proto) { proto.mutable_window()->mutable_dimensions(0)->set_base_dilation(2); }),
        EndsWith("its result is f32[6,4,4,10]; by its operands it is f32[6,7,4,10]"));
    CHECK_THAT(
        fault([](auto& proto) { proto.mutable_window()->mutable_dimensions(1)->set_window_dilation(3); }),
        EndsWith("its result is f32[6,4,4,10]; by its operands it is f32[6,4,2,10]"));
    CHECK_THAT(fault([](auto& proto) { proto.mutable_window()->mutable_dimensions(1)->set_padding_low(-9); }),
               EndsWith("its result is f32[6,4,4,10]; by its operands it is f32[6,4,0,10]"));
    CHECK_THAT(fault([](auto& proto) { proto.mutable_window()->mutable_dimensions()->RemoveLast(); }),
               EndsWith("its window is 3; it must be 3, 3, as its kernel"));
    CHECK_THAT(fault([](auto& proto) {
                   proto.mutable_convolution_dimension_numbers()->set_input_batch_dimension(1);
               }),
               EndsWith("a dimension of its input is 1 twice; each may be named once"));
    CHECK_THAT(
        fault([](auto& proto) {
            proto.mutable_convolution_dimension_numbers()->mutable_kernel_spatial_dimensions()->RemoveLast();
        }),
        EndsWith("it names 3 dimensions of its kernel; it must name all 4"));
}

Change window(const Ids& sizes) {
    return [sizes](InstructionProto& proto) {
        for (const std::int64_t size : sizes) {
            auto& dimension = *proto.mutable_window()->add_dimensions();
            dimension.set_size(size);
            dimension.set_stride(size);
            dimension.set_window_dilation(1);
            dimension.set_base_dilation(1);
        }
    };
}

TEST_CASE("Reductions and windows", "[hlo]") {
    CHECK(fault_of("reduce", "f32[3]", {"f32[2,3]", "f32[]"}, dimensions({0}), {"add f32"}).empty());
    CHECK_THAT(fault_of("reduce", "f32[2]", {"f32[2,3]", "f32[]"}, dimensions({0}), {"add f32"}),
               EndsWith("its result is f32[2]; by its operands it is f32[3]"));
    CHECK_THAT(fault_of("reduce", "f32[3]", {"f32[2,3]", "s32[]"}, dimensions({0}), {"add f32"}),
               EndsWith("its initial value 0 is s32[]; it must be f32[]"));
    CHECK_THAT(fault_of("reduce", "f32[3]", {"f32[2,3]", "f32[]"}, dimensions({0}), {"add s32"}),
               EndsWith("parameter 0 of the computation that it calls is s32[]; it must be f32[]"));
    CHECK_THAT(fault_of("reduce", "f32[3]", {"f32[2,3]", "f32[]"}, dimensions({0}), {"compare f32"}),
               EndsWith("the computation that it calls gives pred[]; it must give f32[]"));
    CHECK_THAT(fault_of("reduce", "f32[3]", {"f32[2,3]", "f32[]"}, dimensions({0})),
               EndsWith("it has 0 called computations; it must have 1"));
    CHECK_THAT(fault_of("reduce", "f32[3]", {"f32[2,3]", "f32[]", "f32[]"}, dimensions({0}), {"add f32"}),
               EndsWith("it has 3 operands; it must have as many initial values as arrays"));
    CHECK_THAT(fault_of("reduce", "(f32[3], f32[3])", {"f32[2,3]", "f32[2,3]", "f32[]", "f32[]"},
                        dimensions({0}), {"add f32"}),
               EndsWith("the computation that it calls has 2 parameters; it must have 4"));
    CHECK_THAT(fault_of("reduce", "f32[3]", {"f32[2,3]", "f32[3,2]", "f32[]", "f32[]"}, dimensions({0}),
                        {"add f32"}),
               EndsWith("its operands are f32[2,3] and f32[3,2]; their dimensions must be the same"));

    CHECK(fault_of("reduce-window", "f32[2,2]", {"f32[4,6]", "f32[]"}, window({2, 3}), {"add f32"}).empty());
    CHECK_THAT(fault_of("reduce-window", "f32[2,2]", {"f32[4,6]", "f32[]"}, window({2}), {"add f32"}),
               EndsWith("its window has 1 dimension; it must have those of f32[4,6]"));
    const Texts operands{"f32[4,6]", "f32[2,2]", "f32[]"};
    CHECK(fault_of("select-and-scatter", "f32[4,6]", operands, window({2, 3}), {"compare f32", "add f32"})
              .empty());
    CHECK_THAT(
        fault_of("select-and-scatter", "f32[4,6]", operands, window({2, 2}), {"compare f32", "add f32"}),
        EndsWith("its second operand is f32[2,2]; by its window it must be f32[2,3]"));
    CHECK_THAT(fault_of("select-and-scatter", "f32[4,6]", operands, window({2, 3}), {"add f32", "add f32"}),
               EndsWith("the computation that it calls gives f32[]; it must give pred[]"));

    for (const int reversed : {0, 1}) {
        const Change backwards = [=](InstructionProto& proto) {
            window({2, 3})(proto);
            proto.mutable_window()->mutable_dimensions(reversed)->set_window_reversal(true);
        };
        CHECK_THAT(fault_of("reduce-window", "f32[2,2]", {"f32[4,6]", "f32[]"}, backwards, {"add f32"}),
                   EndsWith("its window is reversed; only one of a convolution may be"));
        CHECK_THAT(
            fault_of("select-and-scatter", "f32[4,6]", operands, backwards, {"compare f32", "add f32"}),
            EndsWith("its window is reversed; only one of a convolution may be"));
    }

    const auto sort = [](std::int64_t axis) { return dimensions({axis}); };
    CHECK(fault_of("sort", "f32[4]", {"f32[4]"}, sort(0), {"compare f32"}).empty());
    CHECK_THAT(fault_of("sort", "f32[4]", {"f32[4]"}, sort(1), {"compare f32"}),
               EndsWith("its dimension is 1; it must be from 0 to 0"));
    CHECK_THAT(fault_of("sort", "f32[4]", {"f32[4]"}, sort(0), {"add f32"}),
               EndsWith("the computation that it calls gives f32[]; it must give pred[]"));
    CHECK_THAT(fault_of("sort", "(f32[4], f32[4])", {"f32[4]", "f32[4]"}, sort(0), {"compare f32"}),
               EndsWith("the computation that it calls has 2 parameters; it must have 4"));
    const auto topk = [](std::int64_t k) { return [k](InstructionProto& proto) { proto.set_k(k); }; };
    CHECK(fault_of("topk", "(f32[2,3], s32[2,3])", {"f32[2,5]"}, topk(3)).empty());
    CHECK_THAT(fault_of("topk", "(f32[2,3], s32[2,3])", {"f32[2,5]"}, topk(6)),
               EndsWith("it takes 6 elements of the last dimension of f32[2,5]; it must have so many"));
    CHECK_THAT(fault_of("topk", "(f32[2,3], u32[2,3])", {"f32[2,5]"}, topk(3)),
               EndsWith("its result is u32[2,3]; by its operands it is s32[2,3]"));
}

/// A computation of parameters of these shapes that gives a tuple of some of them.
std::int64_t tuple_combiner(HloModule& module, const Texts& parameters, const std::string& result,
                            const std::vector<std::size_t>& given) {
    HloComputation made = module.computation("combiner");
    Ids ids;
    for (const std::string& parameter : parameters) ids.push_back(made.parameter(parameter));
    Ids parts;
    for (const std::size_t part : given) parts.push_back(ids.at(part));
    made.add("tuple", result, parts);
    return made.id();
}

TEST_CASE("One result is an array, several are a tuple of arrays", "[hlo]") {
    HloModule module;
    const std::int64_t add = module.combiner("add");
    const std::int64_t less = module.combiner("compare", "f32", "pred");
    const std::int64_t pairs =
        tuple_combiner(module, {"f32[]", "s32[]", "f32[]", "s32[]"}, "(f32[], s32[])", {0, 3});
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter("f32[4,6]");
    const std::int64_t n = entry.parameter("s32[4,6]");
    const std::int64_t zero = entry.parameter("f32[]");
    const std::int64_t none = entry.parameter("s32[]");
    const std::int64_t places = entry.parameter("s32[1]");
    struct Case {
        std::string opcode;
        std::string result;  // of one operand
        Ids operands;
        Ids called;
        Change change;
    };
    const Change scatter = [](InstructionProto& proto) {
        auto& numbers = *proto.mutable_scatter_dimension_numbers();
        for (const std::int64_t axis : {0, 1}) numbers.add_update_window_dims(axis);
        numbers.add_scatter_dims_to_operand_dims(0);
    };
    const Change global = [](InstructionProto& proto) {
        proto.set_custom_call_target("xla.sdy.GlobalToLocalShape");
    };
    const auto one = GENERATE_COPY(values<Case>({
        {"reduce", "f32[6]", {x, zero}, {add}, dimensions({0})},
        {"reduce-window", "f32[2,2]", {x, zero}, {add}, window({2, 3})},
        {"scatter", "f32[4,6]", {x, places, x}, {add}, scatter},
        {"sort", "f32[4,6]", {x}, {less}, dimensions({1})},
        {"all-reduce", "f32[4,6]", {x}, {add}, {}},
        {"all-gather", "f32[8,6]", {x}, {}, dimensions({0})},
        {"custom-call", "f32[2,6]", {x}, {}, global},
    }));
    INFO(one.opcode);
    entry.add(one.opcode, one.result, one.operands, one.called);
    if (one.change) one.change(entry.last());
    CHECK(module.fault().empty());
    *entry.last().mutable_shape() = shape_proto("(" + one.result + ")");
    CHECK_THAT(module.fault(), EndsWith("its result is (" + one.result + "); it must be an array"));

    // Two reductions at once.
    entry.add("reduce", "(f32[6], s32[6])", {x, n, zero, none}, {pairs});
    dimensions({0})(entry.last());
    *entry.proto().mutable_instructions(entry.proto().instructions_size() - 2)->mutable_shape() =
        shape_proto(one.result);
    CHECK(module.fault().empty());
    for (const std::string result :
         {"f32[6]", "(f32[6])", "(f32[6], s32[6], f32[6])", "(f32[6], (s32[6]))"}) {
        *entry.last().mutable_shape() = shape_proto(result);
        CHECK_THAT(module.fault(), EndsWith("its result is " + result + "; it must be a tuple of 2 arrays"));
    }
}

TEST_CASE("A combiner of one type gives a scalar, one of several a tuple of them", "[hlo]") {
    const auto fault = [](const Texts& parameters, const std::string& result,
                          const std::vector<std::size_t>& given) {
        HloModule made;
        const std::int64_t combiner = tuple_combiner(made, parameters, result, given);
        HloComputation entry = made.computation("main");
        Ids arrays;
        Ids initial;
        std::string results;
        for (std::size_t i = 0; i < parameters.size() / 2; ++i) {
            const std::string type = parameters[i].substr(0, parameters[i].find('['));
            arrays.push_back(entry.parameter(type + "[5]"));
            initial.push_back(entry.parameter(type + "[]"));
            results += (results.empty() ? "" : ", ") + type + "[]";
        }
        arrays.insert(arrays.end(), initial.begin(), initial.end());
        entry.add("reduce", initial.size() == 1 ? results : "(" + results + ")", arrays, {combiner});
        dimensions({0})(entry.last());
        return made.fault();
    };
    CHECK_THAT(fault({"f32[]", "f32[]"}, "(f32[])", {0}),
               EndsWith("the computation that it calls gives (f32[]); it must give f32[]"));
    CHECK(fault({"f32[]", "s8[]", "f32[]", "s8[]"}, "(f32[], s8[])", {2, 1}).empty());
    CHECK_THAT(fault({"f32[]", "s8[]", "f32[]", "s8[]"}, "(s8[], f32[])", {1, 0}),
               EndsWith("the computation that it calls gives (s8[], f32[]); it must give (f32[], s8[])"));
    CHECK_THAT(fault({"f32[]", "s8[]", "f32[]", "s8[]"}, "(f32[])", {0}),
               EndsWith("the computation that it calls gives (f32[]); it must give (f32[], s8[])"));
}

TEST_CASE("Computed places", "[hlo]") {
    const auto sizes = [](const Ids& numbers) {
        return [numbers](InstructionProto& proto) {
            for (const std::int64_t number : numbers) proto.add_dynamic_slice_sizes(number);
        };
    };
    CHECK(fault_of("dynamic-slice", "f32[2,1]", {"f32[4,3]", "s32[]", "s32[]"}, sizes({2, 1})).empty());
    CHECK(fault_of("dynamic-slice", "f32[2,1]", {"f32[4,3]", "s32[2]"}, sizes({2, 1})).empty());
    CHECK_THAT(fault_of("dynamic-slice", "f32[2,1]", {"f32[4,3]", "s32[]"}, sizes({2, 1})),
               EndsWith("it has 1 index operand for f32[4,3]; it must have an integer for each dimension, "
                        "all of one type"));
    CHECK_THAT(fault_of("dynamic-slice", "f32[2,1]", {"f32[4,3]", "s32[]", "u32[]"}, sizes({2, 1})),
               EndsWith("all of one type"));
    CHECK_THAT(fault_of("dynamic-slice", "f32[5,1]", {"f32[4,3]", "s32[]", "s32[]"}, sizes({5, 1})),
               EndsWith("the sizes of its slice are 5, 1; they must be from 0 to those of f32[4,3]"));
    CHECK(fault_of("dynamic-update-slice", "f32[4]", {"f32[4]", "f32[2]", "s32[]"}).empty());
    CHECK_THAT(fault_of("dynamic-update-slice", "f32[4]", {"f32[4]", "f32[5]", "s32[]"}),
               EndsWith("the sizes of its update are 5; they must be from 0 to those of f32[4]"));
    CHECK_THAT(fault_of("dynamic-update-slice", "f32[4]", {"f32[4]", "s32[2]", "s32[]"}),
               EndsWith("its operands are f32[4] and s32[2]; their types must be the same"));

    // Rows of a table.
    const auto gather = [](const Change& change) {
        return [change](InstructionProto& proto) {
            auto& numbers = *proto.mutable_gather_dimension_numbers();
            numbers.add_offset_dims(1);
            numbers.add_collapsed_slice_dims(0);
            numbers.add_start_index_map(0);
            numbers.set_index_vector_dim(1);
            for (const std::int64_t size : {1, 4}) proto.add_gather_slice_sizes(size);
            if (change) change(proto);
        };
    };
    const auto gather_fault = [&](const Change& change) {
        return fault_of("gather", "f32[3,4]", {"f32[9,4]", "s32[3,1]"}, gather(change));
    };
    CHECK(gather_fault({}).empty());
    CHECK(fault_of("gather", "f32[3,4]", {"f32[9,4]", "s32[3]"}, gather({})).empty());
    CHECK_THAT(fault_of("gather", "f32[3,4]", {"f32[9,4]", "f32[3,1]"}, gather({})),
               EndsWith("its indices are f32[3,1]; they must be integers"));
    CHECK_THAT(fault_of("gather", "f32[3,4]", {"f32[9,4]", "s32[3,2]"}, gather({})),
               EndsWith("its indices have 2 numbers for 1 dimension; they must be as many"));
    CHECK_THAT(
        gather_fault([](auto& proto) { proto.mutable_gather_dimension_numbers()->set_index_vector_dim(3); }),
        EndsWith("index_vector_dim is 3; it must be from 0 to 2"));
    CHECK_THAT(
        gather_fault([](auto& proto) { proto.mutable_gather_dimension_numbers()->set_offset_dims(0, 2); }),
        EndsWith("one of the offset dimensions is 2; it must be from 0 to 1"));
    CHECK_THAT(
        gather_fault([](auto& proto) { proto.mutable_gather_dimension_numbers()->set_offset_dims(0, 0); }),
        EndsWith("its result is f32[3,4]; by its operands it is f32[4,3]"));
    CHECK_THAT(gather_fault([](auto& proto) { proto.set_gather_slice_sizes(0, 2); }),
               EndsWith("the size of its slices is 2 in dimension 0; it must be 1 at most there"));
    CHECK_THAT(gather_fault([](auto& proto) { proto.set_gather_slice_sizes(1, 5); }),
               EndsWith("the sizes of its slices are 1, 5; they must be from 0 to those of f32[9,4]"));
    CHECK_THAT(
        gather_fault(
            [](auto& proto) { proto.mutable_gather_dimension_numbers()->add_operand_batching_dims(1); }),
        EndsWith("it has 1 and 0 batch dimensions of its operand and its indices; they must be as many"));
    CHECK_THAT(gather_fault([](auto& proto) {
                   auto& numbers = *proto.mutable_gather_dimension_numbers();
                   numbers.set_index_vector_dim(0);
                   numbers.clear_start_index_map();
                   for (const std::int64_t axis : {0, 1, 0}) numbers.add_start_index_map(axis);
               }),
               EndsWith("a dimension of its operand is 0 twice; each may be named once"));
    CHECK_THAT(fault_of("gather", "f32[1,4]", {"f32[1,4]", "s32[1,1]"},
                        [&](InstructionProto& proto) {
                            gather({})(proto);
                            auto& numbers = *proto.mutable_gather_dimension_numbers();
                            numbers.clear_collapsed_slice_dims();
                            numbers.set_start_index_map(0, 1);
                            numbers.add_operand_batching_dims(0);
                            numbers.add_start_indices_batching_dims(1);
                        }),
               EndsWith("a batch dimension of its indices is 1; it must not be index_vector_dim"));
    const std::string wide = "[" + [] {
        std::string ones = "1";
        for (int i = 1; i < 64; ++i) ones += ",1";
        return ones;
    }() + "]";
    CHECK_THAT(fault_of("gather", "f32[1]", {"f32[1,4]", "s32" + wide},
                        [&](InstructionProto& proto) {
                            gather({})(proto);
                            proto.mutable_gather_dimension_numbers()->set_index_vector_dim(64);
                        }),
               EndsWith("its result has 65 dimensions; at most 64 are supported"));
    CHECK_THAT(gather_fault([](auto& proto) {
                   proto.mutable_gather_dimension_numbers()->clear_collapsed_slice_dims();
               }),
               EndsWith("it has 1 offset dimension; it must have 2, those of its slices"));

    const auto scatter = [](const Change& change) {
        return [change](InstructionProto& proto) {
            auto& numbers = *proto.mutable_scatter_dimension_numbers();
            numbers.add_update_window_dims(1);
            numbers.add_inserted_window_dims(0);
            numbers.add_scatter_dims_to_operand_dims(0);
            numbers.set_index_vector_dim(1);
            if (change) change(proto);
        };
    };
    const Texts operands{"f32[9,4]", "s32[3,1]", "f32[3,4]"};
    CHECK(fault_of("scatter", "f32[9,4]", operands, scatter({}), {"add f32"}).empty());
    CHECK_THAT(
        fault_of("scatter", "f32[9,4]", {"f32[9,4]", "s32[3,1]", "f32[2,4]"}, scatter({}), {"add f32"}),
        EndsWith("its updates are f32[2,4], with a size in dimension 0 that fits neither its operand nor its "
                 "indices"));
    CHECK_THAT(
        fault_of("scatter", "f32[9,4]", {"f32[9,4]", "s32[3,1]", "f32[3,5]"}, scatter({}), {"add f32"}),
        EndsWith("its updates are f32[3,5], with a size in dimension 1 that fits neither its operand nor its "
                 "indices"));
    CHECK_THAT(
        fault_of("scatter", "f32[9,4]", {"f32[9,4]", "s32[3,1]", "f32[3,4,1]"}, scatter({}), {"add f32"}),
        EndsWith(
            "its updates are f32[3,4,1]; they must have 2 dimensions, of the windows and of the indices"));
    CHECK_THAT(fault_of("scatter", "f32[9,4]", operands, scatter([](auto& proto) {
                            proto.mutable_scatter_dimension_numbers()->clear_inserted_window_dims();
                        }),
                        {"add f32"}),
               EndsWith("its window, inserted and batch dimensions are 1; they must be as many as those of "
                        "f32[9,4]"));
    CHECK_THAT(
        fault_of("scatter", "f32[9,4]", {"f32[9,4]", "s32[3,1]", "s32[3,4]"}, scatter({}), {"add f32"}),
        EndsWith("its operand 0 is f32[9,4], its update s32[3,4]; they must have the dimensions of f32[9,4] "
                 "and s32[3,4], and one type"));
    CHECK_THAT(fault_of("scatter", "f32[9,4]", {"f32[9,4]", "f32[9,4]", "s32[3,1]", "f32[3,4]"}, scatter({}),
                        {"add f32"}),
               EndsWith("it has 4 operands; it must have arrays, indices, and as many updates as arrays"));
    CHECK_THAT(fault_of("scatter", "f32[9,4]", operands, scatter({}), {"add s32"}),
               EndsWith("parameter 0 of the computation that it calls is s32[]; it must be f32[]"));
}

TEST_CASE("Tuples, calls, loops and choices", "[hlo]") {
    const auto element = [](std::int64_t index) {
        return [index](InstructionProto& proto) { proto.set_tuple_index(index); };
    };
    CHECK(fault_of("tuple", "(f32[2], s8[])", {"f32[2]", "s8[]"}).empty());
    CHECK(fault_of("tuple", "()", {}).empty());
    CHECK_THAT(fault_of("tuple", "(f32[2])", {"f32[2]", "s8[]"}),
               EndsWith("its result is (f32[2]); it must be a tuple of its 2 operands"));
    CHECK_THAT(fault_of("tuple", "(f32[2], u8[])", {"f32[2]", "s8[]"}),
               EndsWith("part 1 of its result is u8[]; it must be s8[], as its operand"));
    CHECK(fault_of("get-tuple-element", "s8[]", {"(f32[2], s8[])"}, element(1)).empty());
    CHECK_THAT(fault_of("get-tuple-element", "s8[]", {"(f32[2], s8[])"}, element(2)),
               EndsWith("it takes part 2 of (f32[2], s8[]); it must be a part of a tuple"));
    CHECK_THAT(fault_of("get-tuple-element", "f32[]", {"f32[2]"}, element(0)),
               EndsWith("it takes part 0 of f32[2]; it must be a part of a tuple"));
    CHECK(fault_of("opt-barrier", "(f32[2])", {"(f32[2])"}).empty());
    CHECK_THAT(fault_of("opt-barrier", "(f32[3])", {"(f32[2])"}),
               EndsWith("its result is (f32[3]); by its operands it is (f32[2])"));

    CHECK(fault_of("call", "f32[]", {"f32[]", "f32[]"}, {}, {"add f32"}).empty());
    CHECK_THAT(
        fault_of("call", "f32[]", {"f32[]"}, {}, {"add f32"}),
        EndsWith(
            "it has 1 operand; it must have 2, one for each parameter of the computation that it calls"));
    CHECK_THAT(
        fault_of("call", "f32[]", {"f32[]", "f32[1]"}, {}, {"add f32"}),
        EndsWith(
            "its operand 1 is f32[1]; it must be f32[], as the parameter of the computation that it calls"));
    CHECK_THAT(fault_of("call", "s32[]", {"f32[]", "f32[]"}, {}, {"add f32"}),
               EndsWith("its result is s32[]; by its operands it is f32[]"));
    CHECK(fault_of("map", "f32[2,3]", {"f32[2,3]", "f32[2,3]"}, dimensions({0, 1}), {"add f32"}).empty());
    CHECK_THAT(fault_of("map", "f32[2,3]", {"f32[2,3]", "f32[2,3]"}, dimensions({1, 0}), {"add f32"}),
               EndsWith("its dimensions are 1,0; they must be all of f32[2,3] in order"));

    CHECK_THAT(fault_of("map", "f32[2]", {"f32[2]"}, dimensions({0}), {"add f32"}),
               EndsWith("the computation that it calls has 2 parameters; it must have 1"));
    CHECK_THAT(fault_of("map", "f32[2]", {"f32[2]", "f32[3]"}, dimensions({0}), {"add f32"}),
               EndsWith("its operands are f32[2] and f32[3]; their dimensions must be the same"));
    CHECK_THAT(fault_of("map", "f32[2]", {"f32[2]", "s8[2]"}, dimensions({0}), {"add f32"}),
               EndsWith("parameter 1 of the computation that it calls is f32[]; it must be s8[]"));
    CHECK_THAT(fault_of("map", "pred[2]", {"f32[2]", "f32[2]"}, dimensions({0}), {"add f32"}),
               EndsWith("its result is pred[2]; by its operands it is f32[2]"));

    HloModule module;
    HloComputation body = module.computation("body");
    body.add("negate", "f32[]", {body.parameter("f32[]")});
    HloComputation condition = module.computation("condition");
    condition.add("is-finite", "pred[]", {condition.parameter("f32[]")});
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter("f32[]");
    const std::int64_t choice = entry.parameter("pred[]");
    SECTION("while") {
        entry.add("while", "f32[]", {x}, {body.id(), condition.id()});
        CHECK(module.fault().empty());
        entry.last().set_called_computation_ids(1, body.id());
        CHECK_THAT(module.fault(), EndsWith("its condition gives f32[]; it must give pred[]"));
        entry.last().set_called_computation_ids(0, condition.id());
        CHECK_THAT(module.fault(), EndsWith("computation 0 that it calls gives pred[]; it must give f32[]"));
        entry.last().set_called_computation_ids(0, module.combiner("add"));
        module.proto().mutable_computations()->SwapElements(2, 3);
        module.proto().set_entry_computation_id(3);
        CHECK_THAT(module.fault(), EndsWith("computation 0 that it calls has 2 parameters; it must have 1"));
        entry.last().set_called_computation_ids(0, condition.id());
        entry.last().set_operand_ids(0, choice);
        CHECK_THAT(module.fault(),
                   EndsWith("the parameter of computation 0 that it calls is f32[]; it must be pred[]"));
    }
    SECTION("conditional") {
        entry.add("conditional", "f32[]", {choice, x, x}, {body.id(), body.id()});
        CHECK(module.fault().empty());
        entry.last().set_called_computation_ids(1, condition.id());
        CHECK_THAT(module.fault(), EndsWith("computation 1 that it calls gives pred[]; it must give f32[]"));
        entry.last().add_called_computation_ids(body.id());
        CHECK_THAT(module.fault(), EndsWith("it chooses among 3 computations with 2 operands; each must have "
                                            "one, and pred chooses among two"));
        entry.last().set_operand_ids(0, x);
        CHECK_THAT(module.fault(), EndsWith("it chooses by f32[]; it must be pred[] or s32[]"));
    }
}

TEST_CASE("Collectives", "[hlo]") {
    const auto groups = [](const std::vector<Ids>& lists, std::int64_t axis = -1) {
        return [=](InstructionProto& proto) {
            for (const Ids& list : lists) {
                auto& group = *proto.mutable_collective_device_list()->add_replica_groups();
                for (const std::int64_t id : list) group.add_replica_ids(id);
            }
            if (axis >= 0) proto.add_dimensions(axis);
        };
    };
    CHECK(fault_of("all-reduce", "f32[2]", {"f32[2]"}, groups({{0, 1}, {2, 3}}), {"add f32"}).empty());
    CHECK(fault_of("all-reduce", "(f32[2], f32[3])", {"f32[2]", "f32[3]"}, groups({}), {"add f32"}).empty());
    CHECK_THAT(fault_of("all-reduce", "f32[2]", {"f32[2]"}, groups({{0, 1}, {2, 1}}), {"add f32"}),
               EndsWith("device 1 is in its groups twice; it must be in one"));
    CHECK_THAT(fault_of("all-reduce", "f32[2]", {"f32[2]"}, groups({{0, 1}, {2}}), {"add f32"}),
               EndsWith("its groups are of 2 and 1 devices; they must have one size, at least 1"));
    CHECK_THAT(fault_of("all-reduce", "f32[2]", {"f32[2]"}, groups({{0, 1}, {}}), {"add f32"}),
               EndsWith("its groups are of 2 and 0 devices; they must have one size, at least 1"));
    CHECK_THAT(fault_of("all-reduce", "f32[2]", {"f32[2]"}, groups({{0, 3}, {2, 5}}), {"add f32"}),
               EndsWith("its groups name 4 devices, the last of which is 5; they must name all from 0 on"));
    CHECK_THAT(fault_of("all-reduce", "(f32[2], s8[2])", {"f32[2]", "s8[2]"}, groups({}), {"add f32"}),
               EndsWith("its operands are f32[2] and s8[2]; their types must be the same"));
    CHECK_THAT(fault_of("all-reduce", "f32[2]", {"f32[2]"}, groups({{-1}}), {"add f32"}),
               EndsWith("it names device -1; devices are from 0 to 65535"));
    CHECK_THAT(fault_of("all-reduce", "f32[2]", {"f32[2]"}, groups({}, 0), {"add f32"}),
               EndsWith("it names dimensions; all-reduce has no use for them"));
    CHECK_THAT(fault_of("all-reduce", "f32[2]", {"f32[2]"},
                        [&](InstructionProto& proto) {
                            groups({{0, 1}})(proto);
                            proto.add_replica_groups()->add_replica_ids(1);
                        },
                        {"add f32"}),
               EndsWith("replica_groups and collective_device_list differ; they must be the same"));
    const auto iota = [](std::int64_t count, std::int64_t size) {
        return [=](InstructionProto& proto) {
            auto& list = *proto.mutable_collective_device_list()->mutable_iota_replica_group_list();
            list.set_num_replica_groups(count);
            list.set_num_devices_per_group(size);
            for (const std::int64_t extent : {2, 4}) list.add_iota_reshape_dims(extent);
            for (const int axis : {1, 0}) list.add_iota_transpose_perm(axis);
        };
    };
    HloModule module;
    const std::int64_t add = module.combiner("add");
    HloComputation entry = module.computation("main");
    entry.add("all-reduce", "f32[2]", {entry.parameter("f32[2]")}, {add});
    iota(4, 2)(entry.last());
    const hlo::Module read = module.read();
    CHECK(hlo::attributes_of<hlo::Collective>(read.entry_computation().instructions[1]).groups ==
          std::vector<std::vector<std::uint32_t>>{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
    CHECK(read.devices == 8);
    CHECK_THAT(fault_of("all-reduce", "f32[2]", {"f32[2]"}, iota(3, 2), {"add f32"}),
               EndsWith("it has 3 groups of 2 for 8 devices; each device must be in one"));

    CHECK(fault_of("all-gather", "f32[2,12]", {"f32[2,3]"}, groups({{0, 1, 2, 3}}, 1)).empty());
    CHECK_THAT(
        fault_of("all-gather", "f32[2,9]", {"f32[2,3]"}, groups({{0, 1, 2, 3}}, 1)),
        EndsWith(
            "its dimension has size 9 as a whole and 3 on each device; the whole must be 12, for 4 devices"));
    CHECK(fault_of("all-gather", "f32[2,9]", {"f32[2,3]"}, groups({}, 1)).empty());
    CHECK_THAT(
        fault_of("all-gather", "f32[2,10]", {"f32[2,3]"}, groups({}, 1)),
        EndsWith("its dimension has size 10 as a whole and 3 on each device; the whole must be a multiple "
                 "of it"));
    CHECK_THAT(fault_of("all-gather", "f32[8,12]", {"f32[2,3]"}, groups({{0, 1, 2, 3}}, 1)),
               EndsWith("its result is f32[8,12]; by its operands it is f32[2,12]"));
    CHECK(fault_of("reduce-scatter", "f32[2,3]", {"f32[2,12]"}, groups({{0, 1, 2, 3}}, 1), {"add f32"})
              .empty());
    CHECK_THAT(fault_of("reduce-scatter", "f32[2,4]", {"f32[2,12]"}, groups({{0, 1, 2, 3}}, 1), {"add f32"}),
               EndsWith("its dimension has size 12 as a whole and 4 on each device; the whole must be 16, "
                        "for 4 devices"));
    CHECK(fault_of("all-to-all", "f32[2,4]", {"f32[2,4]"}, groups({{0, 1, 2, 3}}, 1)).empty());
    CHECK_THAT(fault_of("all-to-all", "f32[2,4]", {"f32[2,4]"}, groups({{0, 1, 2, 3}}, 0)),
               EndsWith("its dimension has size 2; it must be a multiple of 4, the devices of a group"));
    const auto pairs = [](const std::vector<std::pair<int, int>>& all) {
        return [=](InstructionProto& proto) {
            for (const auto& [source, target] : all) {
                auto& pair = *proto.add_source_target_pairs();
                pair.set_source(source);
                pair.set_target(target);
            }
        };
    };
    CHECK(fault_of("collective-permute", "f32[2]", {"f32[2]"}, pairs({{0, 1}, {1, 0}})).empty());
    CHECK_THAT(fault_of("collective-permute", "f32[2]", {"f32[2]"}, pairs({{0, 1}, {2, 1}})),
               EndsWith("source_target_pairs sends from 2 to 1; a device may send and receive once"));
    CHECK(fault_of("replica-id", "u32[]", {}).empty());
    CHECK_THAT(fault_of("partition-id", "s32[]", {}),
               EndsWith("its result is s32[]; by its operands it is u32[]"));
    const auto bits = [](int algorithm) {
        return [=](InstructionProto& proto) { proto.set_rng_algorithm(algorithm); };
    };
    CHECK(fault_of("rng-bit-generator", "(u64[2], u32[7])", {"u64[2]"}, bits(2)).empty());
    CHECK_THAT(fault_of("rng-bit-generator", "(u64[2], f32[7])", {"u64[2]"}, bits(2)),
               EndsWith("its bits are f32[7]; they must be integers"));
    CHECK_THAT(fault_of("rng-bit-generator", "(u64[2], u32[7])", {"u64[2]"}, bits(3)),
               EndsWith("its rng_algorithm is 3; it must be from 0 to 2"));
    const auto target = [](const std::string& name) {
        return [=](InstructionProto& proto) { proto.set_custom_call_target(name); };
    };
    CHECK(fault_of("custom-call", "f32[2,4]", {"f32[8,4]"}, target("SPMDFullToShardShape")).empty());
    CHECK_THAT(fault_of("custom-call", "f32[2]", {"f32[8,4]"}, target("SPMDFullToShardShape")),
               EndsWith("its result 0 is f32[2]; its operand is f32[8,4], and type and number of dimensions "
                        "must be the same"));
    CHECK_THAT(fault_of("custom-call", "f32[2]", {"f32[8]", "f32[8]"}, target("SPMDFullToShardShape")),
               EndsWith("it has 2 operands; it must have 1"));
}

/// XLA's operation semantics of RngBitGenerator: u64[2] for Threefry, u64[2] or u64[3] for Philox.
TEST_CASE("Random bits start from the state of their algorithm", "[hlo]") {
    const std::string rule = GENERATE("0 u64[2] or u64[3]", "1 u64[2]", "2 u64[2] or u64[3]");
    const int algorithm = rule.front() - '0';
    for (const std::string state : {"u64[2]", "u64[3]", "u64[1]", "u64[4]", "u64[]", "u64[2,1]", "s64[2]",
                                    "u32[2]", "u32[4]", "f32[2]", "pred[2]"}) {
        INFO(rule << ": " << state);
        const std::string fault =
            fault_of("rng-bit-generator", "(" + state + ", u32[7])", {state},
                     [&](InstructionProto& proto) { proto.set_rng_algorithm(algorithm); });
        if (rule.find(state) != std::string::npos) {
            CHECK(fault.empty());
        } else {
            CHECK_THAT(fault, EndsWith("its state is " + state + "; with rng_algorithm " +
                                       std::to_string(algorithm) + " it must be " + rule.substr(2)));
        }
    }
}

TEST_CASE("Factorizations and batch normalizations", "[hlo]") {
    CHECK(fault_of("cholesky", "f32[2,3,3]", {"f32[2,3,3]"}).empty());
    CHECK_THAT(fault_of("cholesky", "f32[3,2]", {"f32[3,2]"}),
               EndsWith("its operand is f32[3,2]; it must be square matrices of floats"));
    const auto solve = [](bool left, int transpose) {
        return [=](InstructionProto& proto) {
            proto.mutable_triangular_solve_options()->set_left_side(left);
            proto.mutable_triangular_solve_options()->set_transpose_a(transpose);
        };
    };
    CHECK(fault_of("triangular-solve", "f32[3,2]", {"f32[3,3]", "f32[3,2]"}, solve(true, 1)).empty());
    CHECK(fault_of("triangular-solve", "f32[2,3]", {"f32[3,3]", "f32[2,3]"}, solve(false, 3)).empty());
    CHECK_THAT(fault_of("triangular-solve", "f32[3,2]", {"f32[3,3]", "f32[3,2]"}, solve(false, 1)),
               EndsWith("its operands are f32[3,3] and f32[3,2]; type, batch and the dimension that it "
                        "solves for must be the same"));
    CHECK_THAT(fault_of("triangular-solve", "f32[3,2]", {"f32[3,3]", "f32[3,2]"}, solve(true, 0)),
               EndsWith("transpose_a is 0; it must be from 1 to 3"));
    const auto feature = [](std::int64_t axis) {
        return [=](InstructionProto& proto) { proto.set_feature_index(axis); };
    };
    const Texts operands{"f32[2,5]", "f32[5]", "f32[5]"};
    CHECK(fault_of("batch-norm-training", "(f32[2,5], f32[5], f32[5])", operands, feature(1)).empty());
    CHECK_THAT(fault_of("batch-norm-training", "(f32[2,5], f32[5], f32[5])", operands, feature(0)),
               EndsWith("its operand 1 is f32[5]; it must be f32[2]"));
    CHECK_THAT(fault_of("batch-norm-training", "(f32[2,5], f32[5])", operands, feature(1)),
               EndsWith("its result is (f32[2,5], f32[5]); it must be a tuple of 3 arrays"));
    CHECK(fault_of("batch-norm-inference", "f32[2,5]", {"f32[2,5]", "f32[5]", "f32[5]", "f32[5]", "f32[5]"},
                   feature(1))
              .empty());
    const Texts gradients{"f32[2,5]", "f32[5]", "f32[5]", "f32[5]", "f32[2,5]"};
    CHECK(fault_of("batch-norm-grad", "(f32[2,5], f32[5], f32[5])", gradients, feature(1)).empty());
}

}  // namespace
}  // namespace systole::tests
