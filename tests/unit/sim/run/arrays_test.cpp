// The arrays of networks whose inputs and outputs are no images.
#include "sim/run/arrays.h"

#include <bit>
#include <catch2/catch.hpp>
#include <set>

#include "compiler/ir/model_error.h"
#include "sim/run/host.h"
#include "sim/run/outputs.h"
#include "tests/support/files.h"
#include "tests/support/text_graphs.h"
#include "tests/system/input_files.h"
#include "tests/unit/base/zip/made_zip.h"

using namespace systole;
using tests::npy;

namespace {

using Words = std::vector<std::uint32_t>;

machine::MachineConfig machine_of(machine::Family family) {
    machine::MachineConfig config;
    config.family = family;
    config.name = "m";
    return config;
}

std::string int8s(const std::string& shape, const std::string& numbers) {
    return npy("|i1", shape, numbers);
}

struct Files {
    std::vector<run::InputFile> given;

    Files& add(const std::string& path, const std::string& input = "") {
        given.push_back({.input = input, .content = {.name = "", .hash = "", .path = {path}}});
        return *this;
    }
};

const std::vector<run::InputTensor> two{{.name = "a", .shape = {2}, .type = DataType::Int32},
                                        {.name = "state['b']", .shape = {}, .type = DataType::Bool}};

const Words& words_of(const run::NamedImages& named) {
    REQUIRE(named.images.words() != nullptr);
    return *named.images.words();
}

std::string error_of(const Files& files, const std::vector<run::InputTensor>& tensors = two) {
    try {
        run::read_arrays(files.given, tensors, "net");
    } catch (const input::InputError& error) {
        return error.what();
    }
    FAIL("no error");
    return {};
}

/// A network of one movement, whose input is declared so; `quantization` is that of input and output.
ir::Graph graph_with_input(const std::string& input, const std::string& quantization = "") {
    const std::string type = input.substr(0, input.find(' '));
    return tests::graph_of_text("graph \"g\"\ninputs %0\noutputs %1\n%0 " + input + quantization + "\n%1 " +
                                type + " 1x6 \"y\"" + quantization +
                                "\n%1 = reshape(%0) \"y\" {shape [1, 6]}\n");
}

}  // namespace

TEST_CASE("A network is one of arrays by the types of its borders or its operators on words", "[run]") {
    const auto core = machine_of(machine::Family::TensorCore);
    const auto takes = [&](const std::string& input, const std::string& quantization = "") {
        return run::takes_arrays(graph_with_input(input, quantization), core);
    };
    CHECK_FALSE(takes("float32 1x2x3 \"x\""));
    CHECK(takes("float32 1x2x3 \"x\" file float32"));
    CHECK(takes("float32 1x2x3 \"x\" file float16"));
    CHECK(takes("int32 1x2x3 \"x\" file bool"));
    CHECK(takes("int32 1x2x3 \"x\""));
    CHECK(takes("bfloat16 1x2x3 \"x\""));
    CHECK_FALSE(takes("uint8 1x2x3 \"x\""));
    CHECK_FALSE(takes("int32 1x2x3 \"x\"", " scale 0.5 zero 0"));
    const ir::Graph in_words = tests::graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %1\n%0 float32 1x2 \"x\"\n%1 float32 1x2 \"y\"\n"
        "%1 = word_chain(%0) \"y\" {steps [\"add 0 0\"]}\n");
    CHECK(run::takes_arrays(in_words, core));
    for (const auto family : {machine::Family::TpuV1, machine::Family::EdgeTpu}) {
        CHECK_FALSE(run::takes_arrays(in_words, machine_of(family)));
        CHECK_FALSE(run::takes_arrays(graph_with_input("int32 1x2x3 \"x\" file bool"), machine_of(family)));
    }
}

TEST_CASE("A program is one of arrays if it says so or a border of it is not float32", "[run]") {
    isa::Program program;
    program.inputs = {{.name = "x", .shape = {2}, .type = DataType::Float32}};
    program.outputs = {{.name = "y", .shape = {2}, .type = DataType::Float32}};
    const auto core = machine_of(machine::Family::TensorCore);
    CHECK_FALSE(run::takes_arrays(program, core));
    program.outputs[0].type = DataType::Bool;
    CHECK(run::takes_arrays(program, core));
    CHECK_FALSE(run::takes_arrays(program, machine_of(machine::Family::TpuV1)));
    program.outputs[0].type = DataType::Float32;
    program.inputs[0].type = DataType::Int32;
    CHECK(run::takes_arrays(program, core));
    program.inputs[0].type = DataType::Float32;
    program.state = {{.input = 0, .output = 0}};
    CHECK(run::takes_arrays(program, core));
    program.state.clear();
    program.arrays.emplace();
    CHECK(run::takes_arrays(program, core));
    program.inputs[0].split_axis = 0;
    CHECK(run::array_tensors(program)[0].replicas == 1);
    program.arrays->replicas = 2;
    CHECK(run::array_tensors(program)[0].replicas == 2);
    CHECK(run::array_tensors(program)[0].split_axis == 0U);
}

TEST_CASE("Networks and programs with state are of arrays, and say which inputs are state", "[run]") {
    const ir::Graph graph = tests::graph_of_text(
        "graph \"g\"\nreplicas 3\ninputs %0, %1\noutputs %2\nstate %1 -> %2\n%0 float32 1x2 \"x\"\n"
        "%1 float32 1x2 \"s\"\n%2 float32 1x2 \"t\"\n%2 = add(%0, %1) \"t\"\n");
    CHECK(run::takes_arrays(graph, machine_of(machine::Family::TensorCore)));
    CHECK_THROWS_WITH(run::check_takes_arrays(graph, machine_of(machine::Family::EdgeTpu)),
                      "g: an output replaces \"s\" in the next run, which only machines with tensor cores "
                      "keep; m has none");
    CHECK(run::array_tensors(graph)[0].state_inferences == 0);
    CHECK(run::array_tensors(graph)[1].state_inferences == 3);
    isa::Program program;
    program.batch = 3;
    program.inferences = 6;
    program.inputs = {{.name = "x", .shape = {2}}, {.name = "s", .shape = {2}}};
    program.outputs = {{.name = "t", .shape = {2}}};
    program.state = {{.input = 1, .output = 0}};
    CHECK(run::array_tensors(program)[0].state_inferences == 0);
    CHECK(run::array_tensors(program)[1].state_inferences == 3);
    // The output is there once.
    const run::OutputArray array = run::array_of_words(program, nullptr, Words(6), 0);
    CHECK(array.shape == std::vector<std::uint64_t>{3, 2});
}

TEST_CASE("Machines of integers take no formats that files alone have", "[run]") {
    const auto integers = machine_of(machine::Family::TpuV1);
    CHECK_NOTHROW(run::check_takes_arrays(graph_with_input("int32 1x2x3 \"x\""), integers));
    const ir::Graph with_format = graph_with_input("int32 1x2x3 \"x\" file bool");
    CHECK_THROWS_AS(run::check_takes_arrays(with_format, integers), ModelError);
    CHECK_THROWS_WITH(run::check_takes_arrays(with_format, integers),
                      "g: \"x\" is bool in files, which only machines with tensor cores take; m has none");
    CHECK_THROWS_AS(run::check_takes_arrays(graph_with_input("bfloat16 1x2x3 \"x\""), integers), ModelError);
    CHECK_NOTHROW(run::check_takes_arrays(with_format, machine_of(machine::Family::TensorCore)));
    const ir::Graph in_words = tests::graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %1\n%0 float32 1x2 \"x\" file float32\n%1 float32 1x2 \"y\"\n"
        "%1 = word_chain(%0) \"y\" {steps [\"add 0 0\"]}\n");
    CHECK_THROWS_WITH(run::check_takes_arrays(in_words, integers),
                      "g: it is a program in words; only machines with tensor cores run it; m has none");
    CHECK_NOTHROW(run::check_takes_arrays(in_words, machine_of(machine::Family::TensorCore)));
}

TEST_CASE("Inputs are the arrays without the graph's first extent, in their formats of files", "[run]") {
    const ir::Graph graph = tests::graph_of_text(
        "graph \"g\"\ninputs %0, %1, %2\noutputs %3\n%0 float32 1x2x3 \"x\" axes [0, 2, 1] file float16\n"
        "%1 int32 1 \"n\"\n%2 float32 1x3x2 \"z\"\n%3 float32 1x2x3 \"y\"\n"
        "%3 = word_chain(%0) \"y\" {steps [\"add 0 0\"]}\n");
    const std::vector<run::InputTensor> tensors = run::array_tensors(graph);
    REQUIRE(tensors.size() == 3);
    CHECK(tensors[0].name == "x");
    CHECK(tensors[0].shape == std::vector<std::uint32_t>{2, 3});
    CHECK(tensors[0].file_axes == std::vector<std::uint32_t>{1, 0});
    CHECK(tensors[0].type == DataType::Float16);
    CHECK(tensors[1].shape.empty());
    CHECK(tensors[1].type == DataType::Int32);
    CHECK(tensors[2].type == DataType::Float32);
    // The file's order of axes is another one than the graph's.
    const tests::Folder folder;
    const std::string x = folder.file("x.npy", int8s("(3, 2)", {1, 2, 3, 4, 5, 6}));
    const auto inputs = run::read_arrays(Files().add(x).given, {tensors[0]}, "net");
    Words expected;
    for (const float each : {1.0F, 3.0F, 5.0F, 2.0F, 4.0F, 6.0F})
        expected.push_back(std::bit_cast<std::uint32_t>(each));
    CHECK(words_of(inputs[0]) == expected);
}

TEST_CASE("Arrays are given by name, by position, and in archives by both", "[run]") {
    const tests::Folder folder;
    const std::string a = folder.file("a.npy", int8s("(2,)", {1, 2}));
    const std::string b = folder.file("b.npy", npy("|b1", "()", {1}));
    const std::string other = int8s("(2,)", {9, 9});
    const auto archive = [&](const std::string& name, const std::string& of_a, const std::string& of_b) {
        return folder.file(name, tests::packed_zip({{of_a + ".npy", tests::text_in(a)},
                                                    {of_b + ".npy", tests::text_in(b)},
                                                    {"more.npy", other}}));
    };
    const auto check = [](const Files& files) {
        const auto inputs = run::read_arrays(files.given, two, "net");
        REQUIRE(inputs.size() == 2);
        CHECK(words_of(inputs[0]) == Words{1, 2});
        CHECK(words_of(inputs[1]) == Words{1});
        CHECK(inputs[0].images.count == 1);
        CHECK(inputs[0].images.channels == 2);
        CHECK(inputs[0].in_files == 1);
        CHECK(inputs[0].input == "a");
    };
    check(Files().add(b, "state['b']").add(a, "a"));
    check(Files().add(a, "0").add(b, "1"));
    check(Files().add(archive("names.npz", "a", "state['b']")));
    const auto warnings_of = [](const Files& files) {
        return run::read_arrays(files.given, two, "net").front().warnings;
    };
    using Lines = std::vector<std::string>;
    const std::string archived = archive("names.npz", "a", "state['b']");
    CHECK(warnings_of(Files().add(archived)) ==
          Lines{archived + ": an array is for no input of net: \"more\""});
    CHECK(warnings_of(Files().add(a, "a").add(b, "1")) == Lines{});
    // What a name was given for is one array of a file.
    CHECK(warnings_of(Files().add(archived, "a").add(b, "1")) == Lines{});
    const std::string several = folder.file("several.npz", tests::packed_zip({{"a.npy", tests::text_in(a)},
                                                                              {"arr_0.npy", other},
                                                                              {"1.npy", tests::text_in(b)},
                                                                              {"2.npy", other}}));
    CHECK(warnings_of(Files().add(several)) ==
          Lines{several + ": 2 arrays are for no input of net: \"arr_0\", \"2\""});
    check(Files().add(archive("positions.npz", "0", "1")));
    check(Files().add(archive("savez.npz", "arr_0", "arr_1")));
    check(Files().add(archive("mixed.npz", "0", "state['b']"), "0").add(b, "1"));
    // What has a file of its own is not taken from the archive.
    const std::string wrong = folder.file(
        "wrong.npz", tests::packed_zip({{"a.npy", other}, {"state['b'].npy", tests::text_in(b)}}));
    check(Files().add(wrong).add(a, "a"));
    // Several archives have some of the arrays each.
    check(Files()
              .add(folder.file("first.npz", tests::packed_zip({{"a.npy", tests::text_in(a)}})))
              .add(folder.file("second.npz", tests::packed_zip({{"1.npy", tests::text_in(b)}}))));
    // A name goes before a position.
    check(Files().add(folder.file("both.npz", tests::packed_zip({{"0.npy", other},
                                                                 {"arr_0.npy", other},
                                                                 {"a.npy", tests::text_in(a)},
                                                                 {"1.npy", tests::text_in(b)}}))));
    const std::vector<run::InputTensor> crossed{{.name = "1", .shape = {2}, .type = DataType::Int32},
                                                {.name = "0", .shape = {}, .type = DataType::Bool}};
    for (const Files& files : {Files().add(a, "1").add(b, "0"), Files().add(archive("c.npz", "1", "0"))}) {
        const auto inputs = run::read_arrays(files.given, crossed, "net");
        CHECK(words_of(inputs[0]) == Words{1, 2});
        CHECK(words_of(inputs[1]) == Words{1});
    }
    // The only input takes the only array.
    const std::string one = folder.file("one.npz", tests::packed_zip({{"any.npy", tests::text_in(a)}}));
    for (const std::string& file : {a, one}) {
        CHECK(words_of(run::read_arrays(Files().add(file).given, {two[0]}, "net")[0]) == Words{1, 2});
    }
}

TEST_CASE("Several inferences are a first axis, or several arrays for an input", "[run]") {
    const tests::Folder folder;
    const std::string a = folder.file("a.npy", int8s("(3, 2)", {1, 2, 3, 4, 5, 6}));
    const std::string b = folder.file("b.npy", int8s("(3,)", {0, 1, 0}));
    const auto inputs = run::read_arrays(Files().add(a, "a").add(b, "1").given, two, "net");
    CHECK(inputs[0].images.count == 3);
    CHECK(words_of(inputs[0]) == Words{1, 2, 3, 4, 5, 6});
    CHECK(inputs[1].images.count == 3);
    CHECK(words_of(inputs[1]) == Words{0, 1, 0});
    const std::string more = folder.file("more.npy", int8s("(2,)", {7, 8}));
    const auto joined = run::read_arrays(Files().add(a).add(more).given, {two[0]}, "net");
    CHECK(joined[0].images.count == 4);
    CHECK(joined[0].in_files == 4);
    CHECK(words_of(joined[0]) == Words{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(error_of(Files().add(a, "a").add(folder.file("c.npy", int8s("()", {1})), "1")) ==
          (folder / "c.npy").string() + ": there are 1 inferences; " + a + " has 3");
}

TEST_CASE("State has the inferences of a batch, and the other inputs have equally many", "[run]") {
    const tests::Folder folder;
    std::vector<run::InputTensor> tensors{{.name = "s", .shape = {2}, .type = DataType::Int32},
                                          {.name = "a", .shape = {2}, .type = DataType::Int32},
                                          {.name = "b", .shape = {2}, .type = DataType::Int32}};
    tensors[0].state_inferences = 2;
    const std::string s = folder.file("s.npy", int8s("(2, 2)", {1, 2, 3, 4}));
    const std::string a = folder.file("a.npy", int8s("(4, 2)", {1, 2, 3, 4, 5, 6, 7, 8}));
    const std::string b = folder.file("b.npy", int8s("(3, 2)", {1, 2, 3, 4, 5, 6}));
    const auto inputs = run::read_arrays(Files().add(s, "s").add(a, "a").add(a, "b").given, tensors, "net");
    CHECK(inputs[0].is_state);
    CHECK(inputs[0].images.count == 2);
    CHECK_FALSE(inputs[1].is_state);
    CHECK(run::first_without_state(inputs) == &inputs[1]);
    CHECK(run::first_without_state({inputs[0]}) == nullptr);
    CHECK(error_of(Files().add(s, "s").add(a, "a").add(b, "b"), tensors) ==
          b + ": there are 3 inferences; " + a + " has 4");
    CHECK(error_of(Files().add(a, "s").add(a, "a").add(a, "b"), tensors) ==
          a + ": there are 4 inferences; input \"s\" is state, which goes in once, with 2");
}

TEST_CASE("Arrays that are missing, of no input or of another shape are errors of one line", "[run]") {
    const tests::Folder folder;
    const std::string a = folder.file("a.npy", int8s("(2,)", {1, 2}));
    CHECK(error_of(Files().add(a, "a")) ==
          "net: an input has no array: \"state['b']\"; --input NAME=FILE or an .npz file gives it");
    const std::string none = folder.file(
        "none.npz", tests::packed_zip({{"x.npy", tests::text_in(a)}, {"2.npy", tests::text_in(a)}}));
    CHECK(error_of(Files().add(none)) ==
          none + ": no array has the name or position of an input; net has \"a\", \"state['b']\"");
    CHECK(error_of(Files().add(none, "a")) == none + ": no array has the name or position of input \"a\"");
    CHECK(error_of({}) ==
          "net: 2 inputs have no array: \"a\", \"state['b']\"; --input NAME=FILE or an .npz file gives them");
    for (const char* const name : {"c", "2", "-1", "0x0"}) {
        CHECK(error_of(Files().add(a, name)) ==
              std::string(name) + "=" + a +
                  ": net has no input of that name or position; there is \"a\", \"state['b']\"");
    }
    CHECK(error_of(Files().add(a)) ==
          a + ": the network has several inputs; NAME=" + a + " says which one it is for");
    for (const auto& [shape, count] : std::vector<std::pair<std::string, std::size_t>>{
             {"(1, 1, 2)", 2}, {"(3,)", 3}, {"()", 1}, {"(2, 1)", 2}, {"(2, 2, 1)", 4}, {"(0, 2)", 0}}) {
        const std::string file = folder.file("shape.npy", int8s(shape, std::string(count, '\1')));
        CHECK(error_of(Files().add(file), {two[0]}) ==
              file + ": the array's shape is " + shape +
                  "; input \"a\" is (2,), with or without a number of inferences before it");
    }
    const std::string picture = folder.file("i.idx", tests::idx_images(1, 2, 1));
    CHECK_THAT(error_of(Files().add(picture), {two[0]}), Catch::Contains("NPY or NPZ file"));
}

TEST_CASE("Preparations of images are refused, each of them", "[run]") {
    CHECK_NOTHROW(run::check_no_preparation({}, "net"));
    const auto refused = [](const auto& prepare) {
        run::Preparation preparation;
        prepare(preparation);
        CHECK_THROWS_AS(run::check_no_preparation(preparation, "net"), input::InputError);
    };
    refused([](run::Preparation& each) { each.resize = run::ImageSize{2, 2}; });
    refused([](run::Preparation& each) { each.crop = run::ImageSize{2, 2}; });
    refused([](run::Preparation& each) { each.layout = run::Layout::Hwc; });
    refused([](run::Preparation& each) { each.channels = run::ChannelOrder::Bgr; });
    refused([](run::Preparation& each) { each.is_given = true; });
}

TEST_CASE("Made-up arrays are numbers of their formats", "[run]") {
    const auto made = [](DataType type, std::uint64_t seed = 1) {
        const run::NamedImages named =
            run::random_array({.name = "x", .shape = {50, 2}, .type = type}, 3, seed);
        CHECK(named.images.count == 3);
        CHECK(named.images.channels == 100);
        return words_of(named);
    };
    for (const DataType type : {DataType::Int8, DataType::Uint8, DataType::Int32, DataType::Uint32}) {
        const Words words = made(type);
        CHECK(std::set<std::uint32_t>(words.begin(), words.end()) ==
              std::set<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
    }
    const Words truths = made(DataType::Bool);
    CHECK(std::set<std::uint32_t>(truths.begin(), truths.end()) == std::set<std::uint32_t>{0, 1});
    CHECK(made(DataType::Float32) == made(DataType::Float32));
    CHECK(made(DataType::Float32) != made(DataType::Float32, 2));
    bool has_lower_half = false;
    for (const std::uint32_t word : made(DataType::Float32)) {
        CHECK(std::abs(std::bit_cast<float>(word)) < 1.0F);
        has_lower_half |= (word & 0xFFFF) != 0;
    }
    CHECK(has_lower_half);
    for (const std::uint32_t word : made(DataType::Bfloat16)) CHECK((word & 0xFFFF) == 0);
    for (const std::uint32_t word : made(DataType::Float16)) CHECK((word & 0x1FFF) == 0);
    CHECK_THROWS_AS(run::random_array({.name = "x", .shape = {1 << 20}}, 4097, 1), input::InputError);
}

TEST_CASE("An output of words is an array of its format, without a single inference", "[run]") {
    isa::Program program;
    program.inferences = 1;
    const auto array = [&](DataType type, Words words) {
        program.outputs = {{.name = "y", .shape = {3}, .type = type}};
        return run::array_of_words(program, nullptr, std::move(words), 0);
    };
    const Words numbers{0xFFFFFFFF, 0, 7};
    const run::OutputArray int8 = array(DataType::Int8, numbers);
    CHECK(int8.name == "y");
    CHECK(int8.shape == std::vector<std::uint64_t>{3});
    CHECK(int8.type == DataType::Int8);
    CHECK(int8.values.empty());
    CHECK(int8.stored == std::vector<std::uint8_t>{0xFF, 0, 7});
    CHECK(run::shown_output(int8, DataType::Int8).first == std::vector<double>{-1, 0, 7});
    CHECK(run::shown_output(array(DataType::Uint32, numbers), DataType::Uint32).first ==
          std::vector<double>{4294967295.0, 0, 7});
    CHECK(run::shown_output(array(DataType::Int32, numbers), DataType::Int32).first ==
          std::vector<double>{-1, 0, 7});
    CHECK(array(DataType::Bool, {0, 1, 1}).stored == std::vector<std::uint8_t>{0, 1, 1});
    const Words floats{0x3FC00000, 0xC0000000, 0};
    const run::OutputArray brain = array(DataType::Bfloat16, floats);
    CHECK(brain.type == DataType::Float32);
    CHECK(brain.stored.size() == 12);
    // The file has float32, the network bfloat16.
    CHECK(run::shown_output(brain, DataType::Bfloat16).first == std::vector<double>{1.5, -2, 0});
    CHECK(run::shown_output(brain, DataType::Bfloat16).type == DataType::Bfloat16);
    const run::OutputArray half = array(DataType::Float16, floats);
    CHECK(half.stored == std::vector<std::uint8_t>{0, 0x3E, 0, 0xC0, 0, 0});
    CHECK(run::shown_output(half, DataType::Float16).first == std::vector<double>{1.5, -2, 0});
    program.inferences = 3;
    program.outputs = {{.name = "y", .shape = {1}, .type = DataType::Int32}};
    ir::Value value{.name = "z", .shape = {1, 1}, .type = DataType::Int32};
    const run::OutputArray several = run::array_of_words(program, &value, {1, 2, 3}, 0);
    CHECK(several.name == "z");
    CHECK(several.shape == std::vector<std::uint64_t>{3, 1});
    program.inferences = 1;
    program.outputs = {{.name = "y", .shape = {2, 3}, .type = DataType::Uint8}};
    value = {.name = "z", .shape = {1, 2, 3}, .type = DataType::Int32, .file_axes = {0, 2, 1}};
    const run::OutputArray turned = run::array_of_words(program, &value, {1, 2, 3, 4, 5, 6}, 0);
    CHECK(turned.shape == std::vector<std::uint64_t>{3, 2});
    // The file of a network has the first axis.
    CHECK(run::array_of_words(program, &value, {1, 2, 3, 4, 5, 6}, 0, true).shape ==
          std::vector<std::uint64_t>{1, 3, 2});
    CHECK(turned.stored == std::vector<std::uint8_t>{1, 4, 2, 5, 3, 6});
    const run::OutputArray large{.name = "l",
                                 .shape = {20},
                                 .values = {},
                                 .type = DataType::Int8,
                                 .stored = std::vector<std::uint8_t>(20)};
    CHECK(run::shown_output(large, DataType::Int8).first.size() == 8);
}

TEST_CASE("Outputs of arrays have classes only where one vector of floats is", "[run]") {
    isa::Program program;
    program.inferences = 2;
    program.outputs = {{.name = "i", .shape = {3}, .type = DataType::Int32},
                       {.name = "f", .shape = {2}, .type = DataType::Bfloat16}};
    CHECK(run::class_output(program, true) == 1U);
    CHECK_FALSE(run::class_output(program));  // two vectors
    const Words floats{0, 0x3F800000, 0x40000000, 0x3F800000};
    CHECK(run::read_word_outputs(program, floats, 1, false).predictions.empty());
    const run::Outputs outputs = run::read_word_outputs(program, floats, 1, true);
    CHECK(outputs.per_inference == 2);
    CHECK(outputs.values == std::vector<float>{0, 1, 2, 1});
    CHECK(outputs.predictions == Words{1, 0});
    const run::Outputs numbers = run::read_word_outputs(program, Words{0xFFFFFFFE, 1, 2, 3, 4, 5}, 0, true);
    CHECK(numbers.predictions.empty());
    CHECK(numbers.values == std::vector<float>{-2, 1, 2, 3, 4, 5});
    program.outputs[1].type = DataType::Bool;
    CHECK_FALSE(run::class_output(program, true));
    // State has none.
    program.outputs = {{.name = "s", .shape = {3}, .type = DataType::Float32},
                       {.name = "f", .shape = {2}, .type = DataType::Float32}};
    CHECK_FALSE(run::class_output(program, true));
    program.state = {{.input = 0, .output = 0}};
    CHECK(run::class_output(program, true) == 1U);
    program.arrays.emplace();
    CHECK(run::class_output(program, true) == 1U);
    program.arrays->replicas = 2;
    CHECK_FALSE(run::class_output(program, true));
}

TEST_CASE("Constant outputs of a program of arrays have their format", "[run]") {
    isa::Program program;
    std::vector<run::OutputArray> arrays(1);
    std::vector<DataType> types{DataType::Bfloat16};
    run::add_constant_arrays(program, arrays, types);
    CHECK(arrays.size() == 1);
    const auto constant = [](std::uint32_t place, std::uint8_t value) {
        return isa::ConstantOutput{.place = place,
                                   .tensor = {.name = "t", .shape = {2}, .type = DataType::Bool},
                                   .words = {value, 0, 0, 0, 0, 0, 0, 0}};
    };
    program.arrays = {.constants = {constant(0, 1), constant(2, 0)}};
    run::add_constant_arrays(program, arrays, types);
    CHECK(types == std::vector<DataType>{DataType::Bool, DataType::Bfloat16, DataType::Bool});
    REQUIRE(arrays.size() == 3);
    CHECK(arrays[0].type == DataType::Bool);
    CHECK(arrays[0].shape == std::vector<std::uint64_t>{2});
    CHECK(arrays[0].stored == std::vector<std::uint8_t>{1, 0});
    CHECK(arrays[0].values.empty());
    CHECK(arrays[1].name.empty());
    CHECK(arrays[2].stored == std::vector<std::uint8_t>{0, 0});
}

TEST_CASE("Replicas have parts of an array, or all of it, and results are whole again", "[run]") {
    const tests::Folder folder;
    // Two steps of [2, 4]: a replica of two has columns 0 and 1, the other one columns 2 and 3.
    std::string numbers;
    for (char number = 0; number < 16; ++number) numbers += number;
    const std::string file = folder.file("x.npy", int8s("(2, 2, 4)", numbers));
    run::InputTensor tensor{
        .name = "x", .shape = {2, 2}, .type = DataType::Int8, .replicas = 2, .split_axis = 1};
    const auto read = [&] { return run::read_arrays(Files().add(file).given, {tensor}, "net").front(); };
    const run::NamedImages split = read();
    CHECK(split.images.count == 4);
    CHECK(words_of(split) == Words{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15});
    tensor.shape = {1, 4};
    tensor.split_axis = 0;
    CHECK(words_of(read()) == Words{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    tensor.shape = {2, 4};
    tensor.split_axis.reset();
    const run::NamedImages same = read();
    CHECK(same.images.count == 4);
    CHECK(words_of(same) == Words{0, 1, 2,  3,  4,  5,  6,  7,  0, 1, 2,  3,  4,  5,  6,  7,
                                  8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15});
    tensor.shape = {2, 3};
    CHECK_THROWS_WITH(read(), Catch::Contains("the array's shape is (2, 2, 4); input \"x\" is (2, 3)"));

    isa::Program program;
    program.inferences = 4;
    program.outputs = {{.name = "y", .shape = {2, 2}, .type = DataType::Int32, .split_axis = 1}};
    program.arrays = {.replicas = 2};
    const auto stored = [](const run::OutputArray& array) {
        return tests::numbers_of<std::int32_t>(array.stored);
    };
    const run::OutputArray whole = run::array_of_words(program, nullptr, words_of(split), 0);
    CHECK(whole.shape == std::vector<std::uint64_t>{2, 2, 4});
    CHECK(stored(whole) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    program.outputs[0].split_axis.reset();
    const run::OutputArray first = run::array_of_words(program, nullptr, words_of(split), 0);
    CHECK(first.shape == std::vector<std::uint64_t>{2, 2, 2});
    CHECK(stored(first) == std::vector<std::int32_t>{0, 1, 4, 5, 8, 9, 12, 13});
}

TEST_CASE("Replicas get parts of made-up arrays, or the same", "[run]") {
    run::InputTensor tensor{
        .name = "x", .shape = {2, 2}, .type = DataType::Int32, .replicas = 2, .split_axis = 0};
    const run::NamedImages split = run::random_whole_array(tensor, 4, 7);
    CHECK(split.images.count == 4);
    tensor.shape = {4, 2};
    tensor.replicas = 1;
    tensor.split_axis.reset();
    CHECK(words_of(split) == words_of(run::random_whole_array(tensor, 2, 7)));
    tensor.shape = {2, 2};
    tensor.replicas = 2;
    const Words same = words_of(run::random_whole_array(tensor, 2, 7));
    CHECK(Words(same.begin(), same.begin() + 4) == Words(same.begin() + 4, same.end()));
}
