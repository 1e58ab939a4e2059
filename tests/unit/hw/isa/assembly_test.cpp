// The text assembly of docs/isa.md, "Assembly".
#include "hw/isa/assembly.h"

#include <catch2/catch.hpp>

#include "base/conversion.h"
#include "hw/isa/program_error.h"
#include "tests/unit/hw/isa/random_program.h"

using namespace systole::isa;
using Catch::Matchers::Message;
using systole::DataType;
using systole::isa::tests::RandomPrograms;

namespace {

Instruction one(const std::string& line) {
    const Program program = assemble(line, "one.asm");
    REQUIRE(program.instructions.size() == 1);
    return program.instructions.front();
}

void check_error(const std::string& text, const std::string& message) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(assemble(text, "x.asm"), ProgramError, Message("x.asm:" + message));
}

}  // namespace

TEST_CASE("Programs survive disassembling and assembling", "[isa][assembly]") {
    const auto seed = GENERATE(range(1U, 60U));
    CAPTURE(seed);
    const Program program = RandomPrograms(seed).program();
    const std::string text = disassemble(program);
    CAPTURE(text);
    const Program again = assemble(text, "random.asm");
    CHECK(again == program);
    CHECK(disassemble(again) == text);
}

TEST_CASE("Every line of assembly stands for its instruction", "[isa][assembly]") {
    CHECK(one("nop") == Instruction(Nop{}));
    CHECK(one("halt") == Instruction(Halt{}));
    CHECK(one("interrupt") == Instruction(InterruptHost{}));
    CHECK(one("sync.wait matrix sem=3") == Instruction(SyncWait{.unit = QueueId::Matrix, .semaphore = 3}));
    CHECK(one("sync.signal host_read sem=0x10") ==
          Instruction(SyncSignal{.unit = QueueId::HostRead, .semaphore = 16}));
    CHECK(one("tag 65535") == Instruction(DebugTag{.tag = 65535}));
    CHECK(one("set window.input_height 28") ==
          Instruction(SetConfig{.reg = Register::WindowInputHeight, .value = 28}));
    CHECK(one("set output.zero_point -128") ==
          Instruction(SetConfig{.reg = Register::OutputZeroPoint, .value = 0xffffff80}));
    CHECK(one("read_host 0x100 ub=1 block=784 count=64") ==
          Instruction(ReadHostMemory{
              .host_address = 256, .unified_buffer_row = 1, .block_bytes = 784, .blocks = 64}));
    CHECK(one("write_host 5 ub=1 block=784") ==
          Instruction(
              WriteHostMemory{.host_address = 5, .unified_buffer_row = 1, .block_bytes = 784, .blocks = 1}));
    CHECK(one(".tile 1 1 fill 0; .tile 1 1 fill 0; read_weights tile=1") ==
          Instruction(ReadWeights{.first_tile = 1, .tiles = 1}));
    CHECK(one("matmul acc=2 ub=3 rows=200 accumulate keep signed wide_a wide_w") ==
          Instruction(MatrixMultiply{.unified_buffer_row = 3,
                                     .accumulator_row = 2,
                                     .length = 200,
                                     .flags = {.accumulate = true,
                                               .keep_weights = true,
                                               .activations = DataType::Int16,
                                               .weights = DataType::Int16}}));
    CHECK(one("convolve ub=0 acc=0 line=28 lines=56 repeat=4") ==
          Instruction(Convolve{.first_line = 28, .lines = 56, .repeat = 4}));
    CHECK(one("activate acc=0 ub=1024 rows=200 first=9 identity load wide") ==
          Instruction(Activate{.unified_buffer_row = 1024,
                               .length = 200,
                               .first_output = 9,
                               .load_parameters = true,
                               .output = DataType::Int16}));
    CHECK(one("matmul ub=0 acc=0 rows=1 activations=int16 weights=int16") ==
          one("matmul ub=0 acc=0 rows=1 signed wide_a wide_w"));
    CHECK(to_string(one("matmul ub=0 acc=0 rows=1 activations=float32 weights=bfloat16")) ==
          "matmul ub=0 acc=0 rows=1 activations=float32 weights=bfloat16");
    CHECK(to_string(one("activate ub=0 acc=0 rows=1 load real")) ==
          "activate ub=0 acc=0 rows=1 identity load real");
    CHECK(to_string(one("activate ub=0 acc=0 rows=1 load even real")) ==
          "activate ub=0 acc=0 rows=1 identity load real even");
    CHECK(one("activate ub=0 acc=0 rows=1 even") ==
          Instruction(Activate{.length = 1, .multipliers = Multipliers::ToEven}));
    CHECK(one("vector add dst=0 src=1 other=2 rows=3 even") ==
          Instruction(Vector{.source_row = 1, .other_row = 2, .length = 3, .half_to_even = true}));
    CHECK(to_string(one("activate ub=0 acc=0 rows=1 output=int8")) ==
          "activate ub=0 acc=0 rows=1 identity output=int8");
    CHECK(one("activate acc=0 ub=0 rows=1 lookup") ==
          Instruction(Activate{.length = 1, .function = ActivationFunction::Lookup}));
    CHECK(one("vector max_pool dst=10 src=20 line=14 lines=14 signed count_padding") ==
          Instruction(Vector{.operation = VectorOperation::MaxPool,
                             .destination_row = 10,
                             .source_row = 20,
                             .length = 14,
                             .first_line = 14,
                             .elements = DataType::Int8,
                             .count_padding = true}));
    CHECK(one("vector add dst=10 src=20 other=30 rows=5") ==
          Instruction(Vector{.operation = VectorOperation::Add,
                             .destination_row = 10,
                             .source_row = 20,
                             .other_row = 30,
                             .length = 5}));
}

TEST_CASE("An instruction is shown as one line of assembly", "[isa][assembly]") {
    CHECK(to_string(MatrixMultiply{
              .unified_buffer_row = 3, .length = 200, .flags = {.weights = DataType::Int16}}) ==
          "matmul ub=3 acc=0 rows=200 wide_w");
    CHECK(to_string(Activate{.length = 1}) == "activate ub=0 acc=0 rows=1 identity");
    CHECK(to_string(ReadHostMemory{.host_address = 4096, .block_bytes = 9, .blocks = 2}) ==
          "read_host 0x1000 ub=0 block=9 count=2");
    CHECK(to_string(SetConfig{.reg = Register::OutputMinimum, .value = 0xffffffff}) ==
          "set output.minimum -1");
    CHECK(to_string(SetConfig{.reg = Register::WindowTile, .value = 0xffffffff}) ==
          "set window.tile 4294967295");
    CHECK(to_string(SyncWait{.unit = static_cast<QueueId>(15)}) == "sync.wait unit?15 sem=0");
}

TEST_CASE("Every line of assembly for tiles stands for its instruction", "[isa][assembly]") {
    const auto check = [](const std::string& line, const Instruction& instruction) {
        CAPTURE(line);
        CHECK(one(".tiles 4 4\n" + line) == instruction);
        CHECK(to_string(instruction) == line);
    };
    check("read_program 100", ReadProgram{.bytes = 100});
    check("read_parameters 0x80 unit=3 units=4", ReadParameters{.host_address = 128, .unit = 3, .units = 4});
    check("read_tensor 0x80 at=5", ReadTensor{.host_address = 128, .address = 5});
    check("write_tensor 0x80 at=5", WriteTensor{.host_address = 128, .address = 5});
    check("write_tensor 0x80 at=5 over_lanes",
          WriteTensor{.host_address = 128, .address = 5, .over_lanes = true});
    check("stream_parameters 0x80 rows=9 units=4",
          StreamParameters{.host_address = 128, .rows = 9, .units = 4, .groups = 1, .repeats = 1});
    check("stream_parameters 0x80 rows=9 units=4 groups=2 repeats=3",
          StreamParameters{.host_address = 128, .rows = 9, .units = 4, .groups = 2, .repeats = 3});
    check("multicast unit=7 rows=9 units=4 repeats=3",
          Multicast{.parameters = 7, .rows = 9, .units = 4, .groups = 1, .repeats = 3});
    check("multicast 0x80 rows=9 units=4 groups=2 streamed",
          Multicast{.parameters = 128, .rows = 9, .units = 4, .groups = 2, .repeats = 1, .streamed = true});
    check("collect dst=3 src=4", Collect{.destination = 3, .source = 4});
    check("collect dst=3 src=4 over_lanes", Collect{.destination = 3, .source = 4, .over_lanes = true});
    check("exchange at=5", Exchange{.address = 5});
    check("permute channels_lines_columns dst=3 src=4",
          Permute{.order = AxisOrder::ChannelsLinesColumns, .result = 3, .source = 4});
    check("tile_multiply depthwise to_even dst=3 src=4 unit=7 signed by_channel",
          TileMultiply{.product = TileProduct::Depthwise,
                       .scaling = Scaling::ToEven,
                       .is_signed = true,
                       .by_channel = true,
                       .result = 3,
                       .source = 4,
                       .parameters = 7});
    check("tile_multiply convolve fixed_point 0x80 dst=3 src=4 signed_weights streamed",
          TileMultiply{
              .has_signed_weights = true, .streamed = true, .result = 3, .source = 4, .parameters = 128});
    check("tile_vector subtract float dst=3 src=4 other=5 signed",
          TileVector{.operation = TileOperation::Subtract,
                     .scaling = Scaling::Float,
                     .is_signed = true,
                     .result = 3,
                     .source = 4,
                     .other = 5});
    check("tile_vector max_pool fixed_point dst=3 src=4",
          TileVector{.operation = TileOperation::MaxPool, .result = 3, .source = 4});
}

TEST_CASE("The tiles of a program are declared once, and with no array", "[isa][assembly]") {
    const Program program = assemble(".tiles 2 3 lanes=32 units=9\nhalt", "x.asm");
    CHECK(program.geometry.tiles == TileGrid{.lines = 2, .columns = 3, .lanes = 32, .units = 9});
    CHECK(disassemble(program).starts_with(".tiles 2 3 lanes=32 units=9\n"));
    CHECK(assemble(".tiles 4 4", "x.asm").geometry.tiles ==
          TileGrid{.lines = 4, .columns = 4, .lanes = 64, .units = 8192});
    check_error(".tiles 4 4\n.tiles 4 4",
                "2:1: .tiles: there is one .array, .tiles or .tensor_core for a program");
    check_error(".array 4 4\n.tiles 4 4",
                "2:1: .tiles: there is one .array, .tiles or .tensor_core for a program");
    check_error(".tiles 4 4\n.array 4 4",
                "2:1: .array: there is one .array, .tiles or .tensor_core for a program");
    check_error(".tile 1 1 fill 0\n.tiles 4 4",
                "2:1: .tiles: such a program has no .tile, .unified_buffer and .accumulators");
    check_error(".tiles 17 4", "1:8: 17: must be a whole number from 1 to 16");
    check_error(".tiles 4 4 lanes=8", "1:1: .tiles: lanes is 8; it must be a multiple of 16 up to 256");
    check_error(".tiles 4 4 units=1048577", "1:1: .tiles: units is 1048577; it must be from 1 to 1048576");
    for (const std::string directive : {".tile 1 1 fill 0", ".unified_buffer 0 1", ".accumulators 0 1"}) {
        check_error(".tiles 4 4\n" + directive, "2:1: " + directive.substr(0, directive.find(' ')) +
                                                    ": is for machines with a unified buffer");
    }
    check_error("exchange at=0",
                "1:1: exchange: it is for machines with tiles; the program is for one with a unified buffer");
    check_error(
        ".tiles 4 4\nread_host 0 ub=0 block=1",
        "2:1: read_host: it is for machines with a unified buffer; the program is for one with tiles");
    check_error(".tiles 4 4\nsync.wait matrix sem=0",
                "2:1: sync.wait: unit is matrix, which a machine with tiles does not have");
}

TEST_CASE("State is an input and an output by their numbers", "[isa][assembly]") {
    const std::string head =
        ".tensor_core 8 8 lanes=8\n.model m batch=2 inferences=6\n.input x shape=3\n.input s shape=4\n"
        ".output t shape=4\n";
    const Program program = assemble(head + ".state 1 0\n", "x.asm");
    CHECK(program.state == std::vector<StateTensors>{{.input = 1, .output = 0}});
    CHECK(assemble(disassemble(program), "y.asm") == program);
    check_error(head + ".state 0 0", "6:1: .state: output 0, which replaces it, has another shape or type");
    check_error(head + ".state 2 0", "6:1: .state: the program has 2 inputs");
    check_error(head + ".state 1 0\n.state 1 0", "7:1: .state: its input or output is in another state");
    check_error(".state 0 0", "1:1: .state: only programs for a tensor core have state");
    check_error(".tensor_core 8 8\n.input s shape=4\n.output t shape=4\n.state 0 0",
                "4:1: .state: batch is 0 and inferences 0; with state, all batches are whole");
    check_error(".tensor_core 8 8\n.model m batch=1 inferences=1\n.input s\n.output t\n.state 0 0\n.model n",
                "6:1: .model: there is one for a program");
}

TEST_CASE("A tensor that stays in memory is declared with its rows", "[isa][assembly]") {
    const std::string head =
        ".tensor_core 8 8 lanes=8\n.input x shape=2x3x10\n.output y shape=7\n.buffer x input 0 480\n"
        ".buffer y output 512 28\n";
    const Program program =
        assemble(head +
                     ".resident input 0 2 4 3 1 inferences=2 hbm=100 inference_rows=8 panel_rows=16 "
                     "columns=10\n.resident output 0 columns=7\n",
                 "x.asm");
    CHECK(program.residents ==
          std::vector<ResidentTensor>{{.side = ResidentSide::Input,
                                       .number = 0,
                                       .inferences = 2,
                                       .first_row = 100,
                                       .inference_rows = 8,
                                       .panel_rows = 16,
                                       .columns = 10,
                                       .axes = {{.extent = 2, .apart = 4}, {.extent = 3, .apart = 1}}},
                                      {.side = ResidentSide::Output, .number = 0, .columns = 7}});
    CHECK(assemble(disassemble(program), "y.asm") == program);
    check_error(head + ".resident state 0", "6:11: state: side must be one of input, output");
    check_error(head + ".resident input 1", "6:1: .resident: the program has 1 input");
    check_error(head + ".resident input 0 columns=61",
                "6:1: .resident: its axes and columns have 61 elements; the tensor has 60");
    check_error(head + ".resident output 0 7", "6:1: .resident: rows from one to the next is missing");
    check_error(".resident input 0",
                "1:1: .resident: only programs for a tensor core keep tensors in memory");
    check_error(head + ".resident output 0 columns=7\n.resident output 0 columns=7",
                "7:1: .resident: it stays in memory twice");
}

TEST_CASE("Arrays in files are declared with their replicas and constant outputs", "[isa][assembly]") {
    const std::string head = ".tensor_core 8 8 lanes=8\n.model m batch=2 inferences=6\n";
    const Program program = assemble(head + R"(.input x shape=3x4 split=1
.output y shape=4
.arrays replicas=2
.constant_output 1 c shape=2 type=bool
.int32 1 0
.constant_output 5 d type=float32 fill 0x3f800000
)",
                                     "x.asm");
    CHECK(program.inputs[0].split_axis == 1U);
    CHECK_FALSE(program.outputs[0].split_axis);
    REQUIRE(program.arrays);
    CHECK(program.arrays->replicas == 2);
    REQUIRE(program.arrays->constants.size() == 2);
    CHECK(program.arrays->constants[0] ==
          ConstantOutput{.place = 1,
                         .tensor = {.name = "c", .shape = {2}, .type = DataType::Bool},
                         .words = {1, 0, 0, 0, 0, 0, 0, 0}});
    CHECK(program.arrays->constants[1] == ConstantOutput{.place = 5,
                                                         .tensor = {.name = "d", .type = DataType::Float32},
                                                         .words = {0, 0, 0x80, 0x3f}});
    CHECK(assemble(disassemble(program), "y.asm") == program);
    CHECK(assemble(".tensor_core 8 8\n.arrays", "z.asm").arrays == ArrayFiles());
    check_error(".arrays", "1:1: .arrays: is for machines with a tensor core");
    check_error(".tensor_core 8 8\n.arrays\n.arrays", "3:1: .arrays: there is one for a program");
    check_error(".tensor_core 8 8\n.constant_output 0 c",
                "2:1: .constant_output: there is no .arrays above it");
    check_error(".tensor_core 8 8\n.arrays\n.constant_output 0 c shape=2 fill 1\n.int32 2",
                "3:1: .constant_output: the words are 12 bytes; they must be 8");
}

TEST_CASE("A tensor core and its chains are declared", "[isa][assembly]") {
    const Program program = assemble(R"(.tensor_core 64 32 lanes=16
.chain "scale and add"
.source rows packed
.source row
.source column
.step constant -1
.step multiply 0 1
.step select 3 4 2
.result 5 packed
.result 4
chain 0 rows=3 columns=4 dst=10 dst2=20 a=1 b=2 c=3
)",
                                     "x.asm");
    CHECK(program.geometry == Geometry{.rows = 64, .columns = 32, .tensor = {.lanes = 16}});
    const Chain expected{.name = "scale and add",
                         .sources = {{.spread = Spread::Rows, .packed = true},
                                     {.spread = Spread::Row},
                                     {.spread = Spread::Column}},
                         .steps = {{.operation = systole::WordOperation::Constant, .constant = 0xffffffff},
                                   {.operation = systole::WordOperation::Multiply, .operands = {0, 1}},
                                   {.operation = systole::WordOperation::Select, .operands = {3, 4, 2}}},
                         .results = {{.value = 5, .packed = true}, {.value = 4}}};
    CHECK(program.chains == std::vector{expected});
    CHECK(program.instructions ==
          std::vector<Instruction>{
              RunChain{.rows = 3, .columns = 4, .results = {10, 20}, .sources = {1, 2, 3, 0}}});
    CHECK(assemble(disassemble(program), "y.asm") == program);
    CHECK(assemble(".tensor_core 128 128", "x.asm").geometry.tensor.lanes == 128);
    const std::string core = ".tensor_core 8 8 lanes=8\n";
    check_error(core + ".array 4 4",
                "2:1: .array: there is one .array, .tiles or .tensor_core for a program");
    check_error(core + ".tile 1 1 fill 0", "2:1: .tile: is for machines with a unified buffer");
    check_error(".chain c", "1:1: .chain: is for machines with a tensor core");
    check_error(core + ".chain \"\"", "2:8: \"\": the name is empty");
    check_error(core + ".chain c\n.chain c", "3:8: c: the name is taken");
    check_error(core + ".source rows", "2:1: .source: there is no .chain above it");
    check_error(core + ".chain c\n.source lanes",
                "3:9: lanes: spread must be one of rows, row, column, result");
    check_error(core + ".chain c\n.step row\n.source row",
                "4:1: .source: must stand above the chain's steps and results");
    check_error(core + ".chain c\n.step row\n.result 0\n.step row",
                "5:1: .step: must stand above the chain's results");
    check_error(core + ".chain c\n.step negate 0", "3:1: .step: there is no value before it");
    check_error(core + ".chain c\n.step row\n.step negate 1", "4:14: 1: must be a whole number from 0 to 0");
    check_error(core + ".chain c\n.result 0", "3:1: .result: there is no value above it");
    check_error(core + ".chain c\n.step row\n.result 1", "4:9: 1: must be a whole number from 0 to 0");
    check_error(core + "chain 0 rows=1 columns=1", "2:1: chain: the program has 0 chains");
}

TEST_CASE("Blanks, comments and semicolons lie between words and statements", "[isa][assembly]") {
    const Program program = assemble("\t tag 1 ;; nop;halt # tag 2\r\n\n#nop\n  interrupt#", "x.asm");
    CHECK(program.instructions ==
          std::vector<Instruction>{DebugTag{.tag = 1}, Nop{}, Halt{}, InterruptHost{}});
    CHECK(assemble("", "x.asm") == Program());
}

TEST_CASE("Host addresses are labels with or without an offset", "[isa][assembly]") {
    const Program program = assemble(
        ".buffer in input 0x1000 64\n.buffer out output 8192 64\n"
        "read_host in ub=0 block=1\nread_host in+63 ub=0 block=1\nread_host in+0x40 ub=0 block=1\n"
        "write_host out+1 ub=0 block=1\n",
        "x.asm");
    CHECK(std::get<ReadHostMemory>(program.instructions[0]).host_address == 0x1000);
    CHECK(std::get<ReadHostMemory>(program.instructions[1]).host_address == 0x1000 + 63);
    CHECK(std::get<ReadHostMemory>(program.instructions[2]).host_address == 0x1000 + 64);
    CHECK(std::get<WriteHostMemory>(program.instructions[3]).host_address == 8193);
    const std::string text = disassemble(program);
    CHECK(text.find("read_host in ub") != std::string::npos);
    CHECK(text.find("read_host in+63 ub") != std::string::npos);
    CHECK(text.find("read_host 0x1040 ub") != std::string::npos);  // behind the buffer: not its byte
    CHECK(text.find("write_host out+1 ub") != std::string::npos);
}

TEST_CASE("Tiles and constants take their values from generators or lists", "[isa][assembly]") {
    const Program program = assemble(
        ".array 4 4\n"
        ".tile 2 3 fill -3\n"
        ".tile 1 2 bytes=2 useful=1 fill -2\n"
        ".tile 2 2\n .data 01ff\n .data 7F 80\n"
        ".tile 4 4 random 7\n.tile 4 4 random 7\n.tile 4 4 random 8\n"
        ".buffer c constant 0 14\n .int32 1 2*-1\n .int8 2*5\n"
        ".buffer d constant 14 4\n .int16 -2 0x102\n",
        "x.asm");
    CHECK(program.geometry == Geometry{4, 4});
    REQUIRE(program.tiles.size() == 6);
    CHECK(program.tiles[0] == WeightTile{2, 3, DataType::Int8, 6, std::vector<std::uint8_t>(6, 0xfd)});
    CHECK(program.tiles[1] == WeightTile{1, 2, DataType::Int16, 1, {0xfe, 0xff, 0xfe, 0xff}});
    CHECK(program.tiles[2] == WeightTile{2, 2, DataType::Int8, 4, {0x01, 0xff, 0x7f, 0x80}});
    CHECK(program.tiles[3] == program.tiles[4]);
    CHECK(program.tiles[3] != program.tiles[5]);
    REQUIRE(program.buffers.size() == 2);
    CHECK(program.buffers[0].contents ==
          std::vector<std::uint8_t>{1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 5, 5});
    CHECK(program.buffers[1].contents == std::vector<std::uint8_t>{0xfe, 0xff, 0x02, 0x01});
}

TEST_CASE("Integers are of their type in tiles and accumulators, bytes of either sign elsewhere",
          "[isa][assembly]") {
    const auto check_accepted = [](const std::string& text) {
        CAPTURE(text);
        CHECK_NOTHROW(assemble(text, "x.asm"));
    };
    const Program program = assemble(".tile 1 2\n.uint8 255\n.int8 -128\n", "x.asm");
    CHECK(program.tiles[0].values == std::vector<std::uint8_t>{0xff, 0x80});
    check_accepted(".buffer b constant 0 2\n.int8 255 -128");
    check_accepted(".unified_buffer 0 2\n.int8 255 -128");
    check_accepted(".buffer b constant 0 2 fill 255");
    check_accepted(".tile 1 1 bytes=2\n.int16 -32768");
    check_error(
        ".tile 1 1\n.int8 255",
        "2:7: 255: 255 must be a whole number from -128 to 127; .uint8 takes larger ones, as the same bits");
    check_error(
        ".tile 1 1 bytes=2\n.int16 32768",
        "2:8: 32768: 32768 must be a whole number from -32768 to 32767; .uint16 takes larger ones, as the "
        "same bits");
    check_error(".tile 1 1 fill 128", "1:16: 128: 128 must be a whole number from -128 to 127");
    check_error(".tile 1 1\n.uint8 256", "2:8: 256: 256 must be a whole number from 0 to 255");
    check_error(".tile 1 1\n.uint8 -1", "2:8: -1: -1 must be a whole number from 0 to 255");
    check_error(".accumulators 0 1 fill 2147483648",
                "1:24: 2147483648: 2147483648 must be a whole number from -2147483648 to 2147483647");
    check_error(".buffer b constant 0 1\n.int8 256", "2:7: 256: 256 must be a whole number from -128 to 255");
}

TEST_CASE("Initial rows are declared with their values", "[isa][assembly]") {
    const Program program = assemble(
        ".array 4 2\n.unified_buffer 3 6\n.data 0102030405\n.uint8 255\n.unified_buffer 0 4 fill -1\n"
        ".accumulators 7 2\n.int32 1 -1 2*3\n.accumulators 9 1 fill -5\n",
        "x.asm");
    CHECK(program.initial[MemoryId::UnifiedBuffer] ==
          std::vector<InitialRows>{{3, {1, 2, 3, 4, 5, 255}}, {0, {255, 255, 255, 255}}});
    CHECK(program.initial[MemoryId::Accumulators] ==
          std::vector<InitialRows>{{7, {1, 0, 0, 0, 255, 255, 255, 255, 3, 0, 0, 0, 3, 0, 0, 0}},
                                   {9, {251, 255, 255, 255, 251, 255, 255, 255}}});
    CHECK(assemble(disassemble(program), "again.asm") == program);
    const std::string array = ".array 4 2\n";
    check_error(array + ".unified_buffer 16777216 1 fill 0",
                "2:17: 16777216: must be a whole number from 0 to 16777215");
    check_error(array + ".unified_buffer 16777215 5 fill 0", "2:26: 5: must be a whole number from 1 to 4");
    check_error(array + ".accumulators 65536 1 fill 0",
                "2:15: 65536: must be a whole number from 0 to 65535");
    check_error(array + ".accumulators 65535 2 fill 0", "2:21: 2: must be a whole number from 1 to 1");
    check_error(array + ".unified_buffer 0 5 fill 0\n.unified_buffer 1 1 fill 0",
                "3:1: .unified_buffer: it overlaps rows 0 to 1 of the statement of this name above");
    check_error(array + ".accumulators 3 2 fill 0\n.accumulators 2 2 fill 0",
                "3:1: .accumulators: it overlaps rows 3 to 4 of the statement of this name above");
    CHECK_NOTHROW(assemble(array + ".accumulators 3 2 fill 0\n.accumulators 2 1 fill 0", "x.asm"));
    const Program core =
        assemble(".tensor_core 4 2 lanes=2\n.hbm 7 6 fill -1\n.hbm 3 12\n.int32 1 2 3\n", "x.asm");
    CHECK(core.initial[MemoryId::Hbm] == std::vector<InitialRows>{{7, {255, 255, 255, 255, 255, 255}},
                                                                  {3, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}}});
    CHECK(assemble(disassemble(core), "again.asm") == core);
    check_error(".tensor_core 4 2 lanes=2\n.hbm 3 12 fill 0\n.hbm 4 1 fill 0",
                "3:1: .hbm: it overlaps rows 3 to 4 of the statement of this name above");
    check_error(".hbm 3 12 fill 0", "1:1: .hbm: is for machines with a tensor core");
    check_error(array + ".unified_buffer 0 2\nhalt",
                "2:1: .unified_buffer: the values are 0 bytes; they must be 2");
    check_error(array + ".accumulators 0 1\n.int32 1",
                "2:1: .accumulators: the values are 4 bytes; they must be 8");
    check_error(".accumulators 0 1 fill 0\n.array 4 2",
                "2:1: .array: must stand above the first .unified_buffer and .accumulators");
}

TEST_CASE("Constants stand for numbers, with or without an offset", "[isa][assembly]") {
    const Program program = assemble(
        ".constant rows 16\n.constant low -128\n.constant more rows+4\n.constant base 0x1000\n"
        ".array rows rows\n.tile 1 rows\n.int8 rows*low\n.buffer in input base 64\n"
        "matmul ub=more acc=rows+1 rows=rows\nset output.minimum low\nset output.maximum low+200\n"
        "read_host base+3 ub=0 block=1\n",
        "x.asm");
    CHECK(program.geometry == Geometry{16, 16});
    CHECK(program.tiles[0].values == std::vector<std::uint8_t>(16, 0x80));
    CHECK(program.instructions ==
          std::vector<Instruction>{
              MatrixMultiply{.unified_buffer_row = 20, .accumulator_row = 17, .length = 16},
              SetConfig{.reg = Register::OutputMinimum, .value = 0U - 128},
              SetConfig{.reg = Register::OutputMaximum, .value = 72},
              ReadHostMemory{.host_address = 0x1003, .block_bytes = 1}});
    check_error(".constant a 1\n.constant a 2", "2:11: a: the name is taken");
    check_error(".buffer a input 0 1\n.constant a 2", "2:11: a: the name is taken");
    check_error(".constant a 2\n.buffer a input 0 1", "2:9: a: a constant has this name");
    check_error(".constant 2a 1",
                "1:11: 2a: a constant's name is a letter or _, then letters, digits and _ . : / -");
    check_error(".constant a", "1:1: .constant: value is missing");
    check_error(".constant a 1.5", "1:13: 1.5: must be a whole number");
    check_error("tag b", "1:5: b: there is no constant b; a number must stand here");
    check_error(".constant b 65536\ntag b", "2:5: b: must be a whole number from 0 to 65535");
    check_error(".constant b -1\ntag b", "2:5: b: must be a whole number from 0 to 65535");
    check_error(".constant b 1\ntag b+", "2:5: b+: must be a whole number from 0 to 65535");
    check_error(".constant b 18446744073709551615\n.constant c b+1", "2:13: b+1: must be a whole number");
}

TEST_CASE("Statements between .repeat and .end are repeated", "[isa][assembly]") {
    const Program program = assemble(
        ".array 2 2\n.repeat 2; .tile 1 2\n.repeat 2\n.int8 3\n.end\n.end\n"
        ".repeat 2\nnop count=2\n.repeat 3\nhalt\n.end; tag 1\n.end\ntag 2\n",
        "x.asm");
    REQUIRE(program.tiles.size() == 2);
    CHECK(program.tiles[1].values == std::vector<std::uint8_t>{3, 3});
    const std::vector<Instruction> once{Nop{}, Nop{}, Halt{}, Halt{}, Halt{}, DebugTag{.tag = 1}};
    std::vector<Instruction> twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    twice.emplace_back(DebugTag{.tag = 2});
    CHECK(program.instructions == twice);
    // Each has the line of its statement.
    CHECK(program.lines.of_instructions ==
          std::vector<std::uint32_t>{8, 8, 10, 10, 10, 11, 8, 8, 10, 10, 10, 11, 13});
    CHECK(assemble(".repeat 1000000\n.end", "x.asm") == Program());
    // A body that holds another, which holds another, goes on behind them.
    const Program nested = assemble(
        ".repeat 2\n.repeat 1\nnop\n.repeat 3\nhalt\n.end\n.repeat 1\n.end\ntag 1\n.end\ntag 2\n.end\ntag "
        "3\n",
        "x.asm");
    const std::vector<Instruction> inner{
        Nop{}, Halt{}, Halt{}, Halt{}, DebugTag{.tag = 1}, DebugTag{.tag = 2}};
    std::vector<Instruction> all = inner;
    all.insert(all.end(), inner.begin(), inner.end());
    all.emplace_back(DebugTag{.tag = 3});
    CHECK(nested.instructions == all);

    check_error(".repeat 2\nnop", "1:1: .repeat: .end is missing");
    check_error(".repeat 2\n.repeat 2\nnop\n.end", "1:1: .repeat: .end is missing");
    check_error("nop\n.end", "2:1: .end: there is no .repeat above it");
    check_error(".repeat\nnop\n.end", "1:1: .repeat: count is missing");
    check_error(".repeat 0\nnop\n.end", "1:9: 0: must be a whole number from 1 to 1048576");
    check_error(".repeat 2\nnop\n.end now", "3:6: now: .end takes no operands");
    check_error(".repeat 2\nnop\nfoo\n.end", "3:1: foo: no such instruction or directive");
    check_error(".repeat 1024\n.repeat 1024\nnop\n.end\n.end",
                "2:1: .repeat: a text repeats at most 1048576 statements");
    check_error("nop count=0", "1:5: count=0: must be a whole number from 1 to 1048576");
    check_error("nop count=1048576\nnop count=3", "2:1: nop: a text repeats at most 1048576 statements");
    std::string deep;
    for (int i = 0; i < 17; ++i) deep += ".repeat 1\n";
    check_error(deep, "17:1: .repeat: at most 16 .repeat lie in each other");
}

TEST_CASE("Random values are those of splitmix64", "[isa][assembly]") {
    // The generator's published first two outputs for seed 1234567.
    const Program program = assemble(".buffer c constant 0 16 random 1234567", "x.asm");
    std::vector<std::uint8_t> expected;
    for (const std::uint64_t output : {6457827717110365317U, 3203168211198807973U}) {
        for (int i = 0; i < 8; ++i) expected.push_back(static_cast<std::uint8_t>(output >> (8 * i)));
    }
    CHECK(program.buffers.front().contents == expected);
}

TEST_CASE("Metadata has its directives", "[isa][assembly]") {
    const Program program = assemble(
        ".model \"mnist \\\"cnn\\\"\" batch=64 inferences=10000\n"
        ".input image shape=28x28x1 scale=0.5 zero_point=-3 signed\n.output scores shape=10\n"
        ".host_operation softmax dense_1\n.layer conv2d convolution macs=97344\n.layer \"a b\" dense\n",
        "x.asm");
    CHECK(program.model == "mnist \"cnn\"");
    CHECK(program.batch == 64);
    CHECK(program.inferences == 10000);
    CHECK(program.inputs ==
          std::vector<BorderTensor>{{"image", {28, 28, 1}, 0.5, -3, systole::DataType::Int8}});
    CHECK(program.outputs == std::vector<BorderTensor>{{"scores", {10}, 1.0, 0, systole::DataType::Uint8}});
    CHECK(program.host_operations == std::vector<HostOperation>{{"softmax", "dense_1"}});
    CHECK(program.layers == std::vector<LayerInfo>{{"conv2d", "convolution", 97344}, {"a b", "dense", 0}});
}

TEST_CASE("A tensor of a format without a word of its own names the format", "[isa][assembly]") {
    Program program = assemble(".output scores shape=10\nhalt\n", "x.asm");
    CHECK(disassemble(program).find(".output scores shape=10\n") != std::string::npos);
    program.outputs[0].type = systole::DataType::Int32;
    const std::string text = disassemble(program);
    CHECK(text.find(".output scores shape=10 type=int32\n") != std::string::npos);
    CHECK(assemble(text, "x.asm") == program);
}

TEST_CASE("An input names how real numbers become its integers", "[isa][assembly]") {
    const Program program =
        assemble(".input x shape=4 scale=0.5 signed conversion=half_to_even\nhalt\n", "x.asm");
    CHECK(program.inputs[0].conversion == systole::Conversion::HalfToEven);
    const std::string text = disassemble(program);
    CHECK(text.find(".input x shape=4 scale=0.5 signed conversion=half_to_even\n") != std::string::npos);
    CHECK(assemble(text, "x.asm") == program);
    check_error(".input x conversion=half_up",
                "1:10: conversion=half_up: must be nearest, half_to_even or half_away");
}

TEST_CASE("Errors name file, line, column, word and rule", "[isa][assembly]") {
    check_error("nop\n  multiply ub=0", "2:3: multiply: no such instruction or directive");
    check_error("matmul ub=0 acc=0", "1:1: matmul: rows= is missing");
    check_error("matmul ub=0 acc=0 rows=0", "1:19: rows=0: must be a whole number from 1 to 4294967295");
    check_error("matmul ub=16777216 acc=0 rows=1",
                "1:8: ub=16777216: must be a whole number from 0 to 16777215");
    check_error("matmul ub=-1 acc=0 rows=1", "1:8: ub=-1: must be a whole number from 0 to 16777215");
    check_error("matmul ub=1.5 acc=0 rows=1", "1:8: ub=1.5: must be a whole number from 0 to 16777215");
    check_error("matmul ub=0x acc=0 rows=1", "1:8: ub=0x: must be a whole number from 0 to 16777215");
    check_error("matmul ub=99999999999999999999 acc=0 rows=1",
                "1:8: ub=99999999999999999999: must be a whole number from 0 to 16777215");
    check_error("matmul ub=0 acc=0 rows=1 keep repeat=1", "1:1: matmul: repeat must be 0 with keep");
    check_error(
        "matmul ub=0 acc=0 rows=1 ub=2",
        "1:26: ub=2: not an operand of matmul, or one too many; it takes accumulate, keep, signed, wide_a, "
        "activations, wide_w, weights, repeat, ub, acc, rows");
    check_error("activate acc=0 ub=0 rows=0", "1:1: activate: rows is 0; it must be at least 1 without load");
    CHECK_NOTHROW(one("activate acc=0 ub=0 rows=0 load"));
    check_error("activate acc=0 ub=0 rows=1 lookup identity", "1:1: activate: identity contradicts lookup");
    check_error("matmul acc=0 ub=0 rows=1 signed activations=int8",
                "1:33: activations=int8: contradicts signed");
    check_error("matmul acc=0 ub=0 rows=1 weights=uint32",
                "1:26: weights=uint32: is uint32, which no instruction takes");
    check_error("vector add dst=0 src=1 rows=1 elements=int9",
                "1:31: elements=int9: must be the name of a number format, like int16");
    check_error("vector add dst=0 src=1 rows=1 elements=bfloat16",
                "1:1: vector: elements is bfloat16; the activation unit has uint8, int8 and int16");
    check_error("vector add dst=0 src=0 lines=1", "1:1: vector: rows= is missing");
    check_error("vector pool dst=0 src=0 lines=1",
                "1:8: pool: operation must be one of add, multiply, lookup, max_pool, average_pool");
    check_error("tag", "1:1: tag: tag is missing");
    check_error("halt now", "1:6: now: halt takes no operands");
    check_error("set output.minimum -2147483649",
                "1:20: -2147483649: -2147483649 must be a whole number from -2147483648 to 4294967295");
    check_error("read_host out ub=0 block=1",
                "1:11: out: must be a number or a host buffer declared above, with or without +offset");
    check_error("read_weights tile=0", "1:1: read_weights: the program has 0 tiles");
    check_error(".layer a b\ntag 2", "2:1: tag: the program has 1 layers");
    check_error("tag \"1", "1:5: \"1: the closing quote is missing");
    check_error(".array 4 4\n.array 4 4",
                "2:1: .array: there is one .array, .tiles or .tensor_core for a program");
    check_error(".array 4 5000", "1:10: 5000: must be a whole number from 1 to 4096");
    check_error(".tile 1 1 fill 1\n.array 4 4", "2:1: .array: must stand above the first .tile");
    check_error(".tile 1 257 fill 0", "1:9: 257: must be a whole number from 1 to 256");
    check_error(".tile 1 2\nnop", "1:1: .tile: it has no values; such a program can only be timed");
    check_error(".tile 1 2\n.data 010", "2:7: 010: must be pairs of hexadecimal digits");
    check_error(".tile 1 2 zeros", "1:11: zeros: must be fill or random");
    check_error(".buffer a input 0 8\n.buffer a output 8 8", "2:9: a: the name is taken");
    check_error(".buffer a input 0xffffffffff 2", "1:30: 2: must be a whole number from 1 to 1");
    check_error(".buffer c constant 0 0xffffffffff fill 0",
                "1:35: fill: a text generates at most 268435456 bytes of values");
    check_error(".buffer c constant 0 8\n.int32 100000000*0",
                "2:8: 100000000*0: a text generates at most 268435456 bytes of values");
    check_error(".input a scale=nan", "1:1: .input: scale is nan; it must be a finite number above 0");
    check_error(".input a shape=4x", "1:10: shape=4x: must be a whole number from 1 to 4294967295");
    check_error("no\x01p", "1:1: \"no\\x01p\": outside of quotes, words are of printable ASCII characters");
}

TEST_CASE("Errors between statements name the later one", "[isa][assembly]") {
    const std::string a = ".buffer a input 8 8\n";
    check_error(a + ".buffer b output 15 1", "2:9: b: it overlaps a, which is bytes 0x8 to 0xf");
    check_error(a + ".buffer b output 0 9", "2:9: b: it overlaps a, which is bytes 0x8 to 0xf");
    check_error(a + ".buffer b output 8 1", "2:9: b: it overlaps a, which is bytes 0x8 to 0xf");
    check_error(a + ".buffer c input 0 4\n.buffer b output 2 100",
                "3:9: b: it overlaps a, which is bytes 0x8 to 0xf");
    CHECK_NOTHROW(assemble(a + ".buffer b output 16 8\n.buffer c output 0 8", "x.asm"));
    check_error("nop; .buffer \"\" input 0 1", "1:14: \"\": the name is empty");
    check_error("tag 2\n.layer a dense", "2:1: .layer: must stand above the first tag");
    CHECK_NOTHROW(assemble("nop\n.layer a dense\ntag 1\n.layer b dense\ntag 2", "x.asm"));
}

TEST_CASE("The MACs of a host segment's layers are those of the last one named", "[isa][assembly]") {
    const std::string head = ".buffer a output 8 8\n.host_segment s\n.writes a 4\n";
    const auto macs = [&](const std::string& text) {
        return assemble(head + text, "x.asm").host_segments.front().macs;
    };
    CHECK(macs(".computes a b").empty());
    CHECK(macs(".computes a b macs=7") == std::vector<std::uint64_t>{0, 7});
    CHECK(macs(".computes a macs=7; .computes b; .computes c macs=9") == std::vector<std::uint64_t>{7, 0, 9});
}

TEST_CASE("Errors of host segments name the word", "[isa][assembly]") {
    check_error(".computes a", "1:1: .computes: there is no .host_segment above it");
    check_error(".graph \"a\"", "1:1: .graph: there is no .host_segment above it");
    const std::string a = ".buffer a output 8 8\n.host_segment s\n";
    check_error(a + ".reads b 1", "3:8: b: must be a host buffer declared above");
    check_error(a + ".writes a 9", "3:11: 9: must be a whole number from 1 to 8");
    check_error(a + ".writes a", "3:1: .writes: bytes is missing");
    check_error(a + ".writes a 4\nhost_work segment=1 first=0 images=1",
                "4:1: host_work: the program has 1 host segments");
    check_error(a + ".writes a 4\nhost_work segment=0 first=1 images=2",
                "4:1: host_work: buffer \"a\" has room for 2 inferences");
    CHECK_NOTHROW(assemble(a + ".writes a 4\nhost_work segment=0 first=1 images=1", "x.asm"));
    check_error(".output a type=float33",
                "1:11: type=float33: must be the name of a number format, like float32");
    check_error(".output a type=int32 wide", "1:11: type=int32: contradicts signed and wide");
}

TEST_CASE("A tile says how many MACs each pixel of a block needs", "[isa][assembly]") {
    const Program program =
        assemble(".array 4 4\n.tile 2 4 block=3,0,2 fill 1\n.tile 2 4 useful=5 fill 1\n", "a");
    CHECK(program.tiles[0].block_macs == std::vector<std::uint32_t>{3, 0, 2});
    CHECK(program.tiles[0].useful_macs == 5);
    CHECK(program.tiles[1].block_macs.empty());
    const std::string text = disassemble(program);
    CHECK_THAT(text, Catch::Matchers::Contains(".tile 2 4 block=3,0,2 fill 1"));
    CHECK(assemble(text, "again") == program);
    CHECK(assemble(".array 4 4\n.tile 2 4 useful=5 block=3,0,2 fill 1", "a").tiles[0] == program.tiles[0]);
    const auto check = [](const std::string& operands, const std::string& message) {
        CHECK_THROWS_WITH(assemble(".array 4 4\n.tile 2 4 " + operands + " fill 1", "a"),
                          Catch::Matchers::EndsWith(message));
    };
    check("block=3,,2", "block=3,,2: must be a whole number from 0 to 8");
    check("block=5,4", ".tile: block sums to 9; it must be at most ROWS * COLUMNS, which is 8");
    check("useful=6 block=3,2", ".tile: block sums to 5; it must sum to useful, which is 6");
    check("block=1,1,1,1,1", ".tile: block has 5 pixels; they may be at most the array's 4 columns");
}
