// What a module says beside its instructions, literals in their layouts, and modules that are refused.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/compiler/frontend/hlo/hlo_builder.h"

namespace systole::tests {
namespace {

using Catch::EndsWith;

const hlo::Instruction& root_of(const hlo::Module& module) {
    const hlo::Computation& entry = module.entry_computation();
    return entry.instructions.at(entry.root);
}

/// A module of one sum.
HloModule sum_module() {
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t x = entry.parameter("f32[2,3]");
    const std::int64_t y = entry.parameter("f32[2,3]");
    entry.add("add", "f32[2,3]", {x, y});
    return module;
}

hlo_proto::HloComputationProto& entry_of(HloModule& module) {
    return *module.proto().mutable_computations(module.proto().computations_size() - 1);
}

TEST_CASE("Files are recognized by the module's name, of any length", "[hlo]") {
    constexpr std::size_t head_bytes = 64;  // as many as are looked at
    for (const std::size_t length :
         std::vector<std::size_t>{1, 2, 61, 62, 63, 64, 127, 128, 129, 300, 16383, 16384, 100'000}) {
        INFO(length);
        HloModule module;
        module.proto().set_name(std::string(length, 'a'));
        module.proto().set_entry_computation_name("main");
        module.computation("main").parameter("f32[]");
        const std::string bytes = module.bytes();
        CHECK(hlo::is_hlo(bytes));
        CHECK(hlo::is_hlo(bytes.substr(0, head_bytes)));
        // A character that no name has, and another field behind it.
        module.proto().set_name(std::string(length - 1, 'a') + " ");
        CHECK_FALSE(hlo::is_hlo(module.bytes()));
        std::string other = bytes;
        other[other.find('\x12')] = '\x1a';
        CHECK_FALSE(hlo::is_hlo(other));
    }
    for (const std::string head : {"", "\n", "\n\x80", "\n\x80\x80\x80\x80\x80\x80", "\nabc def", "abc"})
        CHECK_FALSE(hlo::is_hlo(head));
    CHECK_FALSE(hlo::is_hlo(std::string("\n\0\x12\x04main", 8)));
}

TEST_CASE("A module has its entry, its parameters and its root", "[hlo]") {
    HloModule module = sum_module();
    entry_of(module).mutable_instructions(0)->mutable_metadata()->set_op_name("state['w']");
    module.proto().set_name("step");
    const hlo::Module read = module.read();
    CHECK(read.name == "step");
    CHECK(read.arguments == std::vector<std::string>{"state['w']", ""});
    CHECK(read.entry_computation().parameters == std::vector<hlo::InstructionId>{0, 1});
    CHECK(root_of(read).operands == std::vector<hlo::InstructionId>{0, 1});
    CHECK(root_of(read).opcode == hlo::Opcode::Add);
    CHECK(read.shapes.text_of(root_of(read).shape) == "f32[2,3]");
    CHECK(read.devices == 1);
}

TEST_CASE("Literals become row-major, whatever their layout", "[hlo]") {
    const auto constant = [](const std::vector<std::int64_t>& minor_to_major) {
        HloModule module;
        HloComputation entry = module.computation("main");
        entry.add("constant", "s16[2,1,3]");
        hlo_proto::LiteralProto& literal = *entry.last().mutable_literal();
        *literal.mutable_shape() = shape_proto("s16[2,1,3]");
        literal.mutable_shape()->mutable_layout()->clear_minor_to_major();
        for (const std::int64_t axis : minor_to_major) {
            literal.mutable_shape()->mutable_layout()->add_minor_to_major(axis);
        }
        const std::array<std::int16_t, 6> values{1, 2, 3, 4, 5, -6};
        literal.set_s16s(values.data(), sizeof values);
        return module;
    };
    const auto values_of = [&](const std::vector<std::int64_t>& minor_to_major) {
        const hlo::Module module = constant(minor_to_major).read();
        std::vector<std::int16_t> values(6);
        std::memcpy(values.data(), hlo::attributes_of<hlo::Constant>(root_of(module)).bytes.data(), 12);
        return values;
    };
    CHECK(values_of({2, 1, 0}) == std::vector<std::int16_t>{1, 2, 3, 4, 5, -6});
    CHECK(values_of({0, 1, 2}) == std::vector<std::int16_t>{1, 3, 5, 2, 4, -6});
    CHECK(values_of({1, 0, 2}) == std::vector<std::int16_t>{1, 3, 5, 2, 4, -6});
    CHECK_THAT(constant({0, 2}).fault(),
               EndsWith("the layout of its literal is {0, 2}; it must name each of 3 dimensions once"));
    CHECK_THAT(constant({0, 2, 2}).fault(), EndsWith("it must name each of 3 dimensions once"));
    CHECK_THAT(constant({}).fault(),
               EndsWith("the layout of its literal is {}; it must name each of 3 dimensions once"));
}

TEST_CASE("Literals of each type are read, and must have the elements of their shape", "[hlo]") {
    HloModule module;
    HloComputation entry = module.computation("main");
    const auto add = [&](const std::string& type) -> hlo_proto::LiteralProto& {
        entry.add("constant", type + "[2]");
        *entry.last().mutable_literal()->mutable_shape() = shape_proto(type + "[2]");
        return *entry.last().mutable_literal();
    };
    const auto two = [](auto& literal, auto add_one) {
        add_one(literal, 1);
        add_one(literal, 2);
    };
    add("pred").add_preds(true);
    entry.last().mutable_literal()->add_preds(false);
    add("s8").set_s8s(std::string("\x01\xff", 2));
    add("u8").set_u8s(std::string("\x01\xff", 2));
    add("s16").set_s16s(std::string("\x01\x00\xff\xff", 4));
    add("u16").set_u16s(std::string("\x01\x00\xff\xff", 4));
    add("f16").set_f16s(std::string("\x00\x3c\x00\xc0", 4));
    add("bf16").set_bf16s(std::string("\x80\x3f\x00\xc0", 4));
    two(add("s32"), [](auto& literal, int i) { literal.add_s32s(-i); });
    two(add("u32"), [](auto& literal, unsigned i) { literal.add_u32s(i << 31U); });
    two(add("s64"), [](auto& literal, std::int64_t i) { literal.add_s64s(-(i << 40)); });
    two(add("u64"), [](auto& literal, std::uint64_t i) { literal.add_u64s(i << 62U); });
    two(add("f32"), [](auto& literal, int i) { literal.add_f32s(static_cast<float>(i) / 4); });
    CHECK(to_text(module.read()) == R"(module ""
entry @0 "main"
  %0 constant pred[2] true,false
  %1 constant s8[2] 1,-1
  %2 constant u8[2] 1,255
  %3 constant s16[2] 1,-1
  %4 constant u16[2] 1,65535
  %5 constant f16[2] 0x3c00,0xc000
  %6 constant bf16[2] 1,-2
  %7 constant s32[2] -1,-2
  %8 constant u32[2] 2147483648,0
  %9 constant s64[2] -1099511627776,-2199023255552
  %10 constant u64[2] 4611686018427387904,9223372036854775808
  root %11 constant f32[2] 0.25,0.5
)");
    entry.last().mutable_literal()->add_f32s(3);
    CHECK(
        module.fault() ==
        R"(computation "main": instruction "constant.12" ("constant"): its literal has 3 elements; it must have 2)");
    entry.last().mutable_literal()->clear_f32s();
    CHECK_THAT(module.fault(), EndsWith("its literal has 0 elements; it must have 2"));
    entry.last().mutable_literal()->add_f32s(1);
    entry.last().mutable_literal()->add_f32s(1);
    entry.last().mutable_literal()->add_s32s(1);
    CHECK_THAT(module.fault(),
               EndsWith("its literal has elements of several types; it must have those of its own"));
    entry.last().mutable_literal()->clear_s32s();
    *entry.last().mutable_literal()->mutable_shape() = shape_proto("f32[1,2]");
    CHECK_THAT(module.fault(), EndsWith("its literal is f32[1,2]; it must be f32[2], as its result"));
    entry.add("constant", "s16[2]");
    *entry.last().mutable_literal()->mutable_shape() = shape_proto("s16[2]");
    entry.last().mutable_literal()->set_s16s("abc");
    *entry.proto().mutable_instructions(11)->mutable_literal()->mutable_shape() = shape_proto("f32[2]");
    CHECK_THAT(module.fault(), EndsWith("its literal has 3 bytes; it must have 4"));
}

TEST_CASE("Older ids are any numbers below 2^32", "[hlo]") {
    HloModule module = sum_module();
    hlo_proto::HloComputationProto& entry = entry_of(module);
    for (int i = 0; i < 3; ++i) entry.mutable_instructions(i)->set_id(100 - i);
    entry.mutable_instructions(2)->set_operand_ids(0, 100);
    entry.mutable_instructions(2)->set_operand_ids(1, 99);
    entry.set_root_id(98);
    CHECK(root_of(module.read()).operands == std::vector<hlo::InstructionId>{0, 1});

    entry.mutable_instructions(1)->set_id((entry.id() << 32) + 99);
    CHECK_THAT(module.fault(),
               EndsWith("ids must name the computation in their upper 32 bits everywhere, or nowhere"));
}

TEST_CASE("Ids that lead nowhere, or to several places, are refused", "[hlo]") {
    HloModule module = sum_module();
    hlo_proto::HloComputationProto& entry = entry_of(module);
    InstructionProto& sum = *entry.mutable_instructions(2);
    const std::string place = R"(computation "main": instruction "add.3" ("add"): )";
    SECTION("an operand that does not exist") {
        sum.set_operand_ids(1, 12345);
        CHECK(module.fault() == place + "its operand is 12345; it must be an instruction of its computation");
    }
    SECTION("an instruction that reads itself") {
        sum.set_operand_ids(1, sum.id());
        CHECK(module.fault() ==
              place + "its operand " + std::to_string(sum.id()) +
                  " does not come before it; operands must, so that none depends on itself");
    }
    SECTION("a cycle of two instructions") {
        entry.mutable_instructions(1)->set_opcode("negate");
        entry.mutable_instructions(1)->clear_parameter_number();
        entry.mutable_instructions(1)->add_operand_ids(sum.id());
        CHECK_THAT(module.fault(),
                   EndsWith("does not come before it; operands must, so that none depends on itself"));
    }
    SECTION("an operand in another computation") {
        HloComputation other = module.computation("other");
        other.add("negate", "f32[2,3]", {sum.id()});
        CHECK_THAT(module.fault(), EndsWith("; it must be an instruction of its computation"));
    }
    SECTION("two instructions of one id") {
        sum.set_id(entry.instructions(1).id());
        CHECK(module.fault() == "two instructions have the id 4294967298; each must have one of its own");
    }
    SECTION("an id of another computation") {
        sum.set_id((std::int64_t{7} << 32) + 3);
        CHECK(module.fault() ==
              R"(computation "main": instruction "add.3": its id is 30064771075; its upper 32 bits must )"
              "be the computation's id, 1");
    }
    SECTION("a negative id") {
        sum.set_id(-1);
        CHECK_THAT(module.fault(), EndsWith("its id is -1; ids must not be negative"));
    }
    SECTION("a root that does not exist") {
        entry.set_root_id(0);
        CHECK(module.fault() ==
              R"(computation "main": its root_id is 0; it must be one of its instructions)");
    }
    SECTION("an entry that does not exist") {
        module.proto().set_entry_computation_id(9);
        CHECK(module.fault() == "its entry_computation_id is 9; it must be that of one of its computations");
    }
    SECTION("two computations of one id") {
        module.computation("other").proto().set_id(1);
        CHECK(module.fault() == "two computations have the id 1; each must have one of its own");
    }
    SECTION("a computation without an instruction") {
        module.computation("other");
        CHECK(module.fault() == R"(computation "other": it has no instruction; it must have at least one)");
    }
}

TEST_CASE("Computations that are missing, or that call themselves, are refused", "[hlo]") {
    HloModule module;
    HloComputation first = module.computation("first");
    first.add("call", "f32[]", {first.parameter("f32[]")}, {first.id()});
    CHECK_THAT(module.fault(),
               EndsWith("it calls computation 1, which does not come before its own; called ones must, so "
                        "that none calls itself"));
    first.last().set_called_computation_ids(0, 9);
    CHECK_THAT(module.fault(), EndsWith("it calls computation 9; it must be one of the module's"));
    HloComputation second = module.computation("second");
    second.add("call", "f32[]", {second.parameter("f32[]")}, {first.id()});
    first.last().set_called_computation_ids(0, second.id());
    CHECK_THAT(module.fault(),
               EndsWith("it calls computation 2, which does not come before its own; called ones must, so "
                        "that none calls itself"));
    first.last().clear_called_computation_ids();
    CHECK_THAT(module.fault(), EndsWith("it has 0 called computations; it must have 1"));
}

TEST_CASE("Parameters must be numbered from 0 on, each once", "[hlo]") {
    HloModule module = sum_module();
    entry_of(module).mutable_instructions(1)->set_parameter_number(0);
    CHECK(module.fault() ==
          R"(computation "main": instruction "parameter.2": its parameter_number is 0; 2 parameters must )"
          "have each number from 0 on once");
    entry_of(module).mutable_instructions(1)->set_parameter_number(2);
    CHECK_THAT(module.fault(),
               EndsWith("its parameter_number is 2; 2 parameters must have each number from 0 on once"));
    entry_of(module).mutable_instructions(1)->set_parameter_number(-1);
    CHECK_THAT(module.fault(), EndsWith("its parameter_number is -1; it must be from 0 to 2147483647"));
}

TEST_CASE("Opcodes and types that are not supported are refused by name", "[hlo]") {
    HloModule module = sum_module();
    InstructionProto& sum = *entry_of(module).mutable_instructions(2);
    sum.set_opcode("addd");
    CHECK(
        module.fault() ==
        R"(computation "main": instruction "add.3" ("addd"): there is no such opcode; it must be one of HLO's)");
    sum.set_opcode("fft");
    CHECK_THAT(module.fault(), EndsWith(R"(("fft"): complex numbers are not supported)"));
    sum.set_opcode("fusion");
    CHECK_THAT(module.fault(),
               EndsWith("it belongs to a module that was compiled for another machine; the module before "
                        "optimization is read"));
    sum.set_opcode("custom-call");
    sum.set_custom_call_target("Eigh\n");
    CHECK_THAT(module.fault(), EndsWith(R"(it calls "Eigh\x0a"; custom calls are not supported)"));
    // By its name, not by a field that goes with it.
    sum.GetReflection()->MutableUnknownFields(&sum)->AddLengthDelimited(43, "{}");
    CHECK_THAT(module.fault(), EndsWith("custom calls are not supported"));
    sum.set_opcode("fft");
    CHECK_THAT(module.fault(), EndsWith("complex numbers are not supported"));
    sum.GetReflection()->MutableUnknownFields(&sum)->Clear();
    sum.set_opcode("add");
    CHECK_THAT(module.fault(), EndsWith("it has field 28 (custom_call_target); add has no use for it"));
    sum.clear_custom_call_target();
    for (const auto& [code, name] : std::vector<std::pair<int, std::string>>{{12, "f64"},
                                                                             {15, "c64"},
                                                                             {18, "c128"},
                                                                             {21, "s4"},
                                                                             {20, "f8e4m3fn"},
                                                                             {17, "token"},
                                                                             {99, "number 99"}}) {
        sum.mutable_shape()->set_element_type(code);
        CHECK_THAT(module.fault(),
                   EndsWith("its type is " + name +
                            "; the supported ones are pred, s8 to s64, u8 to u64, bf16, f16 and f32"));
    }
}

TEST_CASE("Shapes that cannot be are refused", "[hlo]") {
    HloModule module = sum_module();
    hlo_proto::ShapeProto& shape = *entry_of(module).mutable_instructions(2)->mutable_shape();
    SECTION("dynamic") {
        shape.add_is_dynamic_dimension(false);
        CHECK(module.fault().empty());
        shape.add_is_dynamic_dimension(true);
        CHECK_THAT(module.fault(),
                   EndsWith("its shape has a dynamic dimension; only static ones are supported"));
    }
    SECTION("negative") {
        shape.set_dimensions(1, -3);
        CHECK_THAT(module.fault(), EndsWith("its shape is f32[2,-3]; dimensions must not be negative"));
    }
    SECTION("too large") {
        shape.set_dimensions(0, std::int64_t{1} << 27);
        shape.set_dimensions(1, 3);
        CHECK_THAT(module.fault(),
                   EndsWith("its shape is f32[134217728,3]; at most 268435456 elements are supported"));
        shape.set_dimensions(0, std::int64_t{1} << 62);
        shape.set_dimensions(1, 4);
        CHECK_THAT(module.fault(), EndsWith("at most 268435456 elements are supported"));
        // Without elements, its sizes could still overflow.
        shape.add_dimensions(0);
        CHECK_THAT(module.fault(), EndsWith("at most 268435456 elements are supported"));
    }
    SECTION("of many dimensions") {
        shape.clear_dimensions();
        for (int i = 0; i < 65; ++i) shape.add_dimensions(1);
        CHECK_THAT(module.fault(), EndsWith("it has 65 dimensions; at most 64 are supported"));
    }
    SECTION("a tuple where an array must be") {
        shape = shape_proto("(f32[2,3])");
        CHECK_THAT(module.fault(), EndsWith("its result is (f32[2,3]); by its operands it is f32[2,3]"));
        *entry_of(module).mutable_instructions(0)->mutable_shape() = shape;
        CHECK_THAT(module.fault(), EndsWith("its operand 0 is (f32[2,3]); it must be an array"));
    }
    SECTION("a tuple with dimensions, an array with parts") {
        shape.set_element_type(13);
        CHECK_THAT(module.fault(), EndsWith("its shape is a tuple with dimensions; only arrays have them"));
        shape = shape_proto("f32[2,3]");
        *shape.add_tuple_shapes() = shape_proto("f32[]");
        CHECK_THAT(module.fault(), EndsWith("its shape is an array with parts; only tuples have them"));
    }
}

TEST_CASE("Unknown fields pass where they are empty, and are refused by number where not", "[hlo]") {
    HloModule module = sum_module();
    InstructionProto& sum = *entry_of(module).mutable_instructions(2);
    auto* const own = sum.GetReflection()->MutableUnknownFields(&sum);
    own->AddLengthDelimited(82, "");
    own->AddVarint(92, 0);
    own->AddFixed32(93, 0);
    own->AddFixed64(94, 0);
    CHECK(module.fault().empty());
    SECTION("of an instruction") {
        own->AddLengthDelimited(43, "{}");
        CHECK(module.fault() ==
              R"(computation "main": instruction "add.3" ("add"): field 43 of HloInstructionProto is not )"
              "empty; it is not supported");
    }
    SECTION("inside of an instruction") {
        hlo_proto::LayoutProto& layout = *sum.mutable_shape()->mutable_layout();
        layout.GetReflection()->MutableUnknownFields(&layout)->AddVarint(8, 5);
        CHECK_THAT(module.fault(), EndsWith("field 8 of LayoutProto is not empty; it is not supported"));
    }
    SECTION("of a computation") {
        auto& entry = entry_of(module);
        entry.GetReflection()->MutableUnknownFields(&entry)->AddVarint(7, 1);
        CHECK(module.fault() ==
              R"(computation "main": field 7 of HloComputationProto is not empty; it is not supported)");
    }
    SECTION("of the module") {
        auto& proto = module.proto();
        proto.GetReflection()->MutableUnknownFields(&proto)->AddLengthDelimited(7, "x");
        CHECK(module.fault() == "field 7 of HloModuleProto is not empty; it is not supported");
    }
}

TEST_CASE("Aliases name an output and the input that it replaces", "[hlo]") {
    HloModule module;
    HloComputation entry = module.computation("main");
    const std::int64_t state = entry.parameter("f32[4]");
    const std::int64_t pair = entry.parameter("(f32[4], s32[])");
    entry.add("tuple", "(f32[4], (f32[4], s32[]))", {state, pair});
    auto& proto = *module.proto().mutable_input_output_alias();
    const auto add = [&](const Ids& output, std::int64_t parameter, const Ids& input, int kind = 1) {
        auto& alias = *proto.add_entries();
        for (const std::int64_t index : output) alias.add_output_shape_index(index);
        for (const std::int64_t index : input) alias.add_parameter_shape_index(index);
        alias.set_parameter_number(parameter);
        alias.set_kind(kind);
    };
    add({0}, 0, {});
    add({1, 1}, 1, {1}, 2);
    const hlo::Module read = module.read();
    REQUIRE(read.aliases.size() == 2);
    CHECK(read.aliases[1].output == std::vector<std::uint32_t>{1, 1});
    CHECK(read.aliases[1].parameter == 1);
    CHECK(read.aliases[1].input == std::vector<std::uint32_t>{1});
    SECTION("of one shape") {
        add({1, 0}, 1, {1});
        CHECK(module.fault() ==
              "input_output_alias 2: its output is f32[4], its input s32[]; they must be the same");
    }
    SECTION("once") {
        add({1, 0}, 0, {});
        CHECK(module.fault() ==
              "input_output_alias 2: output {1,0} or input {} of parameter 0 is that of another one, too; "
              "each may "
              "be named once");
    }
    SECTION("that exist") {
        add({2}, 0, {});
        CHECK(module.fault() ==
              "input_output_alias 2: it takes part 2 of (f32[4], (f32[4], s32[])); it must be a part of a "
              "tuple");
        proto.mutable_entries(2)->set_output_shape_index(0, -1);
        CHECK_THAT(module.fault(), EndsWith("it takes part -1 of a tuple; parts are from 0 on"));
        proto.mutable_entries(2)->set_parameter_number(2);
        CHECK_THAT(module.fault(),
                   EndsWith("its parameter_number is 2; it must be below the entry's 2 parameters"));
    }
    SECTION("of a kind") {
        add({1, 0}, 1, {0}, 0);
        CHECK_THAT(module.fault(), EndsWith("its kind is 0; it must be 1 or 2"));
    }
}

TEST_CASE("The shapes that a file states twice must be the same", "[hlo]") {
    HloModule module = sum_module();
    auto& shape = *entry_of(module).mutable_program_shape();
    *shape.add_parameters() = shape_proto("f32[2,3]");
    *shape.add_parameters() = shape_proto("f32[2,3]");
    *shape.mutable_result() = shape_proto("f32[2,3]");
    *module.proto().mutable_host_program_shape() = shape;
    CHECK(module.fault().empty());
    *module.proto().mutable_host_program_shape()->mutable_result() = shape_proto("f32[6]");
    CHECK(module.fault() ==
          "its program shape: its result is f32[6]; it must be f32[2,3], as in the computation");
    *shape.mutable_parameters(1) = shape_proto("s32[2,3]");
    CHECK(
        module.fault() ==
        R"(computation "main": its program shape: parameter 1 is s32[2,3]; it must be f32[2,3], as in the computation)");
    shape.mutable_parameters()->RemoveLast();
    CHECK_THAT(module.fault(),
               EndsWith("its program shape: it has 1 parameter; it must have 2, as the computation"));
}

TEST_CASE("Shardings and frontend attributes are kept", "[hlo]") {
    HloModule module = sum_module();
    InstructionProto& sum = *entry_of(module).mutable_instructions(2);
    (*sum.mutable_frontend_attributes()->mutable_map())["b"] = "2";
    (*sum.mutable_frontend_attributes()->mutable_map())["a"] = "1";
    hlo_proto::OpSharding& sharding = *sum.mutable_sharding();
    sharding.set_type(3);
    for (const std::int64_t tiles : {2, 1, 2}) sharding.add_tile_assignment_dimensions(tiles);
    for (const std::int64_t size : {2, 2}) sharding.add_iota_reshape_dims(size);
    for (const int axis : {1, 0}) sharding.add_iota_transpose_perm(axis);
    sharding.set_replicate_on_last_tile_dim(true);
    const hlo::Module read = module.read();
    CHECK(read.devices == 4);
    CHECK_THAT(
        to_text(read),
        EndsWith(R"(add f32[2,3] %0 %1 sharding=tiled [2,1,2] on 0,2,1,3 last replicated "a"="1" "b"="2")"
                 "\n"));
    SECTION("a device for each tile") {
        sharding.set_tile_assignment_dimensions(0, 3);
        CHECK_THAT(module.fault(),
                   EndsWith("its sharding has 6 tiles for 4 devices; each device must have one"));
        sharding.set_tile_assignment_dimensions(0, 1 << 28);
        sharding.set_tile_assignment_dimensions(1, std::int64_t{1} << 62);
        CHECK_THAT(module.fault(),
                   EndsWith("its sharding has too many tiles for 4 devices; each device must have one"));
    }
    SECTION("an order of its axes") {
        sharding.set_iota_transpose_perm(0, 0);
        CHECK_THAT(module.fault(),
                   EndsWith("iota_transpose_perm has 2 numbers; it must name each of 2 dimensions once"));
    }
    SECTION("no more devices than there are") {
        sharding.set_iota_reshape_dims(0, 65537);
        CHECK_THAT(
            module.fault(),
            EndsWith("a size in iota_reshape_dims is 65537; it must be at least 1, and all together make "
                     "65536 devices at most"));
        sharding.clear_iota_reshape_dims();
        sharding.clear_iota_transpose_perm();
        for (int i = 0; i < 4; ++i) sharding.add_tile_assignment_devices(65536);
        CHECK_THAT(module.fault(), EndsWith("it names device 65536; devices are from 0 to 65535"));
    }
    SECTION("a known type") {
        sharding.set_type(6);
        CHECK_THAT(module.fault(), EndsWith("its sharding is of type 6; types 0 to 5 are supported"));
    }
}

using ShardingProto = hlo_proto::OpSharding;

/// A sharding in the words of OpSharding: its type, tiles, devices, and what the last tiles mean.
ShardingProto sharding_proto(int type, const Ids& tiles = {}, const Ids& devices = {}, const Ids& last = {}) {
    ShardingProto proto;
    proto.set_type(type);
    for (const std::int64_t count : tiles) proto.add_tile_assignment_dimensions(count);
    for (const std::int64_t device : devices) proto.add_tile_assignment_devices(device);
    for (const std::int64_t kind : last) proto.add_last_tile_dims(static_cast<int>(kind));
    return proto;
}

ShardingProto tuple_sharding(const std::vector<ShardingProto>& parts) {
    ShardingProto proto = sharding_proto(2);
    for (const ShardingProto& part : parts) *proto.add_tuple_shardings() = part;
    return proto;
}

/// Why a value of this shape cannot have the sharding, which must be the same wherever a module states one.
std::string sharding_fault(const std::string& shape, const ShardingProto& sharding) {
    const auto fault_at = [&](const std::string& place, const std::function<void(HloModule&)>& state) {
        HloModule module;
        HloComputation entry = module.computation("main");
        entry.add("opt-barrier", shape, {entry.parameter(shape)});
        state(module);
        const std::string fault = module.fault();
        if (fault.empty()) return fault;
        INFO(fault);
        REQUIRE(fault.starts_with(place + ": "));
        return fault.substr(place.size() + 2);
    };
    std::string fault = fault_at(
        R"(computation "main": instruction "opt-barrier.2" ("opt-barrier"))",
        [&](HloModule& module) { *entry_of(module).mutable_instructions(1)->mutable_sharding() = sharding; });
    CHECK(fault == fault_at("spmd_output_sharding", [&](HloModule& module) {
              *module.proto().mutable_spmd_output_sharding() = sharding;
          }));
    CHECK(fault == fault_at("spmd_parameters_shardings 0", [&](HloModule& module) {
              *module.proto().add_spmd_parameters_shardings() = sharding;
          }));
    return fault;
}

TEST_CASE("Shardings that fit their arrays are read wherever they stand", "[hlo]") {
    for (const ShardingProto& sharding :
         {sharding_proto(0), sharding_proto(1, {}, {3}), sharding_proto(1, {1}, {3}), sharding_proto(4),
          sharding_proto(5), sharding_proto(3, {2, 2}, {3, 1, 0, 2}),
          sharding_proto(3, {5, 1}, {0, 1, 2, 3, 4}), sharding_proto(3, {1, 2, 2}, {0, 1, 2, 3}, {0}),
          sharding_proto(3, {1, 1, 2, 2}, {0, 1, 2, 3}, {4, 0})}) {
        INFO(sharding.ShortDebugString());
        CHECK(sharding_fault("f32[2,3]", sharding).empty());
        // Parts of a tuple are those of all arrays in it.
        const ShardingProto scalar = sharding_proto(0);
        CHECK(
            sharding_fault("(f32[], (f32[2,3], s8[]))", tuple_sharding({scalar, sharding, scalar})).empty());
    }
    CHECK(sharding_fault("()", tuple_sharding({})).empty());
    CHECK(sharding_fault("()", tuple_sharding({sharding_proto(0)})).empty());
}

TEST_CASE("Shardings that contradict themselves or their array are refused", "[hlo]") {
    struct Case {
        ShardingProto sharding;
        std::string fault;
    };
    ShardingProto twice = sharding_proto(3, {1, 2, 2}, {0, 1, 2, 3}, {0});
    twice.set_replicate_on_last_tile_dim(true);
    ShardingProto replicated = sharding_proto(0);
    replicated.set_replicate_on_last_tile_dim(true);
    ShardingProto counted = sharding_proto(4);
    counted.add_iota_reshape_dims(4);
    ShardingProto with_order = sharding_proto(0);
    with_order.add_iota_transpose_perm(0);
    ShardingProto both = sharding_proto(3, {2, 2}, {0, 1, 2, 3});
    both.add_iota_reshape_dims(4);
    const auto wrong = GENERATE_COPY(values<Case>({
        {sharding_proto(1), "its sharding is one_device with 0 devices; it must name 1"},
        {sharding_proto(1, {}, {0, 1}), "its sharding is one_device with 2 devices; it must name 1"},
        {sharding_proto(1, {1, 2}, {0}),
         "its sharding is one_device with tiles along 2 dimensions and 0 last tiles; only tiled ones have "
         "them"},
        {sharding_proto(1, {1}, {0}, {0}),
         "its sharding is one_device with tiles along 0 dimensions and 1 last tile; only tiled ones have "
         "them"},
        {sharding_proto(1, {}, {-1}), "it names device -1; devices are from 0 to 65535"},
        {sharding_proto(0, {}, {0}), "its sharding is replicated with 1 device; it must name none"},
        {sharding_proto(4, {}, {0, 1}), "its sharding is manual with 2 devices; it must name none"},
        {sharding_proto(5, {}, {0, 1}), "its sharding is unknown with 2 devices; it must name none"},
        {counted, "its sharding is manual with 4 devices; it must name none"},
        {sharding_proto(0, {2, 1}),
         "its sharding is replicated with tiles along 2 dimensions and 0 last tiles; only tiled ones have "
         "them"},
        {sharding_proto(4, {1, 1}),
         "its sharding is manual with tiles along 2 dimensions and 0 last tiles; only tiled ones have them"},
        {sharding_proto(5, {}, {}, {4}),
         "its sharding is unknown with tiles along 0 dimensions and 1 last tile; only tiled ones have them"},
        {replicated,
         "its sharding is replicated with tiles along 0 dimensions and 1 last tile; only tiled ones have "
         "them"},
        {sharding_proto(3, {2, 2}, {0, 1, 1, 3}),
         "its sharding names device 1 twice; each may be named once"},
        {sharding_proto(3, {2, 1}, {0, 2}), "its sharding leaves out device 1; it must name all below 3"},
        {sharding_proto(3, {2, 1}, {1, 2}), "its sharding leaves out device 0; it must name all below 3"},
        {sharding_proto(3, {2, 2}, {0, 1, 2}),
         "its sharding has 4 tiles for 3 devices; each device must have one"},
        {sharding_proto(3, {2, 0}), "a count of its sharding is 0; it must be at least 1"},
        {sharding_proto(3, {2, -1}), "a count of its sharding is -1; it must be at least 1"},
        {sharding_proto(3, {4}, {0, 1, 2, 3}),
         "its sharding has tiles along 1 dimension; f32[2,3] needs 2, and 0 for last tiles"},
        {sharding_proto(3, {2, 1, 1}, {0, 1}),
         "its sharding has tiles along 3 dimensions; f32[2,3] needs 2, and 0 for last tiles"},
        {sharding_proto(3, {2, 2}, {0, 1, 2, 3}, {0}),
         "its sharding has tiles along 2 dimensions; f32[2,3] needs 2, and 1 for last tiles"},
        {sharding_proto(3, {}, {}, {0}),
         "its sharding has tiles along 0 dimensions; f32[2,3] needs 2, and 1 for last tiles"},
        {sharding_proto(3, {1, 2, 2}, {0, 1, 2, 3}, {1}),
         "one of last_tile_dims is one_device; it must be replicated or manual"},
        {sharding_proto(3, {1, 2, 2}, {0, 1, 2, 3}, {3}),
         "one of last_tile_dims is tiled; it must be replicated or manual"},
        {sharding_proto(3, {1, 2, 2}, {0, 1, 2, 3}, {7}),
         "its sharding is of type 7; types 0 to 5 are supported"},
        {twice, "its sharding has replicate_on_last_tile_dim and 1 last_tile_dim; it may have one of them"},
        {with_order, "its sharding has iota_transpose_perm without iota_reshape_dims; it needs both"},
        {both,
         "the devices of its sharding are given both as a list and by counts; it must have one of them"},
        {sharding_proto(-1), "its sharding is of type -1; types 0 to 5 are supported"},
        {tuple_sharding({}),
         "its sharding is tuple with 0 parts; that of f32[2,3] must be of an array, without parts"},
        {tuple_sharding({sharding_proto(0)}),
         "its sharding is tuple with 1 part; that of f32[2,3] must be of an array, without parts"},
    }));
    INFO(wrong.sharding.ShortDebugString());
    CHECK(sharding_fault("f32[2,3]", wrong.sharding) == wrong.fault);
    CHECK(sharding_fault("(s8[], (f32[2,3]))", tuple_sharding({sharding_proto(0), wrong.sharding})) ==
          "part 1 of its sharding: " + wrong.fault);
}

TEST_CASE("A tuple has a sharding of each array in it", "[hlo]") {
    const std::string shape = "(f32[2,3], (s8[], ()))";
    const ShardingProto one = sharding_proto(0);
    CHECK(sharding_fault(shape, tuple_sharding({one, one})).empty());
    for (const std::size_t parts : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        CHECK(sharding_fault(shape, tuple_sharding(std::vector<ShardingProto>(parts, one))) ==
              "its sharding has " + std::to_string(parts) + (parts == 1 ? " part" : " parts") + "; " + shape +
                  " has 2 arrays, and each must have one");
    }
    const std::vector<std::string> names{"replicated", "one_device", "", "tiled", "manual", "unknown"};
    for (const int type : {0, 1, 3, 4, 5}) {
        CHECK(sharding_fault(shape, sharding_proto(type)) == "its sharding is " +
                                                                 names[static_cast<std::size_t>(type)] +
                                                                 "; that of " + shape + " must be a tuple");
    }
    CHECK(sharding_fault(shape, tuple_sharding({one, tuple_sharding({one})})) ==
          "part 1 of its sharding: its sharding is tuple with 1 part; that of s8[] must be of an array, "
          "without "
          "parts");
    for (const auto& state : std::vector<std::function<void(ShardingProto&)>>{
             [](ShardingProto& proto) { proto.add_tile_assignment_dimensions(1); },
             [](ShardingProto& proto) { proto.add_tile_assignment_devices(0); },
             [](ShardingProto& proto) { proto.add_iota_reshape_dims(1); },
             [](ShardingProto& proto) { proto.add_last_tile_dims(0); },
             [](ShardingProto& proto) { proto.set_replicate_on_last_tile_dim(true); }}) {
        ShardingProto proto = tuple_sharding({one, one});
        state(proto);
        CHECK(sharding_fault(shape, proto) ==
              "its sharding is a tuple with tiles or devices; only its parts may have them");
    }
}

TEST_CASE("Shardings of parameters are none, or one for each", "[hlo]") {
    for (const int count : {0, 1, 2, 3}) {
        HloModule module = sum_module();
        for (int i = 0; i < count; ++i) *module.proto().add_spmd_parameters_shardings() = sharding_proto(0);
        CHECK(module.fault() == (count == 0 || count == 2
                                     ? ""
                                     : "spmd_parameters_shardings are " + std::to_string(count) +
                                           " for 2 parameters; there must be none, or one for each"));
    }
}

TEST_CASE("Devices that are given by counts are bounded before they take memory", "[hlo]") {
    // 2^16 devices in few bytes, so often that a list of all would take 256 GB.
    ShardingProto many = sharding_proto(3, {65536});
    many.add_iota_reshape_dims(65536);
    constexpr int parts = 1'000'000;
    ShardingProto sharding = sharding_proto(2);
    for (int i = 0; i < parts; ++i) *sharding.add_tuple_shardings() = many;
    HloModule module;
    HloComputation entry = module.computation("main");
    hlo_proto::ShapeProto tuple;
    tuple.set_element_type(13);
    for (int i = 0; i < parts; ++i) *tuple.add_tuple_shapes() = shape_proto("f32[65536]");
    const std::int64_t parameter = entry.parameter("f32[]");
    *entry.last().mutable_shape() = tuple;
    entry.add("opt-barrier", "f32[]", {parameter});
    *entry.last().mutable_shape() = tuple;
    *entry.last().mutable_sharding() = sharding;
    CHECK_THAT(module.fault(),
               EndsWith("part 256 of its sharding: with it, the module names devices 16842752 "
                        "times; at most 16777216 are supported"));
}

TEST_CASE("A million instructions are read, and a fault in the last one is found", "[hlo]") {
    HloModule module;
    HloComputation entry = module.computation("main");
    std::int64_t last = entry.parameter("f32[8]");
    constexpr int instructions = 1'000'000;
    for (int i = 1; i < instructions; ++i) last = entry.add("negate", "f32[8]", {last});
    const hlo::Module read = module.read();
    CHECK(read.entry_computation().instructions.size() == instructions);
    CHECK(read.shapes.size() == 1);
    *entry.last().mutable_shape() = shape_proto("f32[9]");
    CHECK(module.fault() ==
          R"(computation "main": instruction "negate.1000000" ("negate"): its result is f32[9]; by its )"
          "operands it is f32[8]");
}

}  // namespace
}  // namespace systole::tests
