#include "compiler/ir/text.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <set>

#include "base/data_type.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;

namespace {

ir::Graph read(const std::string& text) {
    return ir::parse_graph(text, "net.txt", operators::registry());
}

std::string error_of(const std::string& text) {
    try {
        read(text);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "none";
}

const std::string small =
    "graph \"small\"\n"
    "inputs %0\n"
    "outputs %3\n"
    "%0 float32 1x3 \"input\"\n"
    "%1 float32 3x2 \"d/kernel\" = [1.0, -0.5, 0.25, 1e-30, 3.0, 4.0]\n"
    "%2 float32 1x2 \"d\"\n"
    "%3 float32 1x2 \"r\" stored int16\n"
    "%2 = dense(%0, %1) \"d\"\n"
    "%3 = relu(%2) \"r\" {maximum 6.0}\n";

std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.replace(at, part.size(), by);
}

}  // namespace

TEST_CASE("Operators refuse integers that they cannot work on, each in one line", "[compiler][ir]") {
    const std::string integers =
        "graph \"g\"\ninputs %0\noutputs %3\n"
        "%0 uint8 1x2 \"in\" scale 0.5 zero 3\n"
        "%1 int8 2x1 \"w\" axis 1 scales [0.5] zeros [0] = [1, 2]\n"
        "%2 int32 1 \"b\" = [7]\n"
        "%3 uint8 1x1 \"d\" scale 0.25 zero 0\n"
        "%3 = dense(%0, %1, %2) \"d\" {clamp [0, 9]}\n";
    CHECK(ir::to_text(read(integers)) == integers);
    const auto error = [&](const std::string& part, const std::string& by) {
        return error_of(replaced(integers, part, by));
    };
    CHECK(error("clamp [0, 9]", "clamp [0, 256]") ==
          "net.txt: node 0 \"d\": its clamp is [0, 256]; it must be two numbers of its result, uint8, in "
          "order");
    CHECK(error("clamp [0, 9]", "clamp [3]") ==
          "net.txt: node 0 \"d\": its clamp is [3]; it must be two numbers of its result, uint8, in order");
    CHECK(error("uint8 1x1 \"d\" scale 0.25 zero 0", "int32 1x1 \"d\" scale 0.25 zero 0") ==
          "net.txt: node 0 \"d\": dense works on float32, uint8, int8, int16, not on int32");
    CHECK(error("\"d\" scale 0.25 zero 0", "\"d\"") ==
          "net.txt: node 0 \"d\": its inputs and its result, integers, must have one scale each");
    CHECK(error("uint8 1x1 \"d\" scale 0.25 zero 0", "int16 1x1 \"d\" scale 0.25 zero 1") ==
          "net.txt: node 0 \"d\": a zero point of int16 must be 0");
    CHECK(error("int8 2x1 \"w\"", "uint8 2x1 \"w\"") ==
          "net.txt: node 0 \"d\": its weights are uint8, which is not supported; on integers they must be "
          "int8, with scales");
    CHECK(error("zeros [0]", "zeros [1]") ==
          "net.txt: node 0 \"d\": its weights must have one scale and zero point, or a scale for each output "
          "channel and zero points of 0");
    CHECK(error("int8 2x1 \"w\" axis 1 scales [0.5] zeros [0]", "int8 2x1 \"w\" scale 0.5 zero 1") == "none");
    CHECK(error("int32 1 \"b\"", "int16 1 \"b\"") ==
          "net.txt: node 0 \"d\": its bias is int16; on integers it must be int32");
    CHECK(error("scale 0.25", "scale 1e-12") ==
          "net.txt: node 0 \"d\": its scales ask for a multiplier of 250000000000; it must be below 2^30");
    CHECK(error("%3 = dense(%0, %1, %2) \"d\" {clamp [0, 9]}", "%3 = sigmoid(%0) \"d\"") != "none");
    const std::string two =
        "graph \"g\"\ninputs %0\noutputs %1\n"
        "%0 uint8 1x2 \"in\" scale 0.5 zero 3\n"
        "%1 int8 1x2 \"out\" scale 0.5 zero 3\n";
    CHECK(error_of(two + "%1 = sigmoid(%0) \"s\"\n") ==
          "net.txt: node 0 \"s\": sigmoid works on float32; uint8 is not supported");
    CHECK(error_of(two + "%1 = add(%0, %0) \"s\"\n") ==
          "net.txt: node 0 \"s\": it works on uint8 and int8; its inputs and its result must be of one type");
    CHECK(error_of(two + "%1 = slice(%0) \"s\" {count 2}\n") ==
          "net.txt: node 0 \"s\": it works on uint8 and int8; its inputs and its result must be of one type");
    CHECK(error_of(replaced(two, "int8 1x2 \"out\" scale 0.5 zero 3", "uint8 1x2 \"out\" scale 0.5 zero 4") +
                   "%1 = slice(%0) \"s\" {count 2}\n") ==
          "net.txt: node 0 \"s\": its inputs and its result must have one scale and one zero point");
    const std::string with_table = replaced(two, "outputs %1\n", "outputs %1\n") +
                                   "%2 int8 3 \"t\" = [1, 2, 3]\n%1 = lookup(%0, %2) \"s\"\n";
    CHECK(error_of(with_table) == "net.txt: node 0 \"s\": its table is 3; it must have 256 entries");
}

TEST_CASE("Operators refuse what their own rules do not cover, each in one line", "[compiler][ir]") {
    // A node of two images of 1x2x2x1 and a result.
    const auto error = [](const std::string& types, const std::string& node) {
        return error_of("graph \"g\"\ninputs %0, %1\noutputs %2\n" + types + "%2 = " + node + "\n");
    };
    const auto three = [](const std::string& type, const std::string& shape = "1x2x2x1") {
        std::string text;
        for (const char* const value : {"%0", "%1", "%2"}) {
            text += std::string(value) + " " + type + " " + shape + " \"v\"";
            if (type != "float32") text += " scale 0.5 zero 3";
            text += "\n";
        }
        return text;
    };
    for (const char* const name : {"divide", "remainder", "floor_modulo"}) {
        CHECK_THAT(error(three("uint8"), std::string(name) + "(%0, %1) \"s\""),
                   Catch::StartsWith("net.txt: node 0 \"s\": "));
        CHECK_THAT(error(three("uint8"), std::string(name) + "(%0, %1) \"s\""),
                   Catch::Contains("of quantized uint8 is not supported"));
    }
    for (const char* const name : {"minimum", "maximum", "subtract"}) {
        CHECK(error(three("uint8"), std::string(name) + "(%0, %1) \"s\"") == "none");
    }
    const auto one = [](const std::string& node, const std::string& result) {
        return error_of("graph \"g\"\ninputs %0\noutputs %1\n%0 float32 1x2x2x1 \"v\"\n%1 float32 " + result +
                        " \"r\"\n%1 = " + node + "\n");
    };
    CHECK(one("resize(%0) \"s\" {shape [1, 4, 4, 1], nearest \"floor\"}", "1x4x4x1") == "none");
    CHECK_THAT(one("resize(%0) \"s\" {shape [1, 4, 4, 1], nearest \"up\"}", "1x4x4x1"),
               Catch::Contains("\"up\"") && Catch::Contains("round_prefer_floor"));
    const std::string vector =
        "graph \"g\"\ninputs %0\noutputs %1\n%0 float32 1x4 \"v\"\n%1 float32 1x2 \"r\"\n%1 = slice(%0) "
        "\"s\" ";
    CHECK(error_of(vector + "{first 0, count 2}\n") == "none");
    CHECK_THAT(error_of(vector + "{first -1, count 2}\n"),
               Catch::Contains("attribute first is -1; it must be at least 0"));
    const std::string wide =
        "graph \"g\"\ninputs %0\noutputs %3\n%0 int16 1x2 \"in\" scale 0.5 zero 0\n"
        "%1 int8 2x1 \"w\" axis 1 scales [0.5] zeros [0] = [1, 2]\n%2 int32 1 \"b\" = [7]\n"
        "%3 int16 1x1 \"d\" scale 0.25 zero 0\n%3 = dense(%0, %1, %2) \"d\" {clamp [0, 9], wide_sums 1}\n";
    CHECK(error_of(wide) == "none");
    CHECK(error_of(replaced(replaced(wide, "int16 1x2", "int8 1x2"), "int16 1x1", "int8 1x1")) ==
          "net.txt: node 0 \"d\": it has wide sums of int8; they must be of int16");
    CHECK(error_of(replaced(wide, "scale 0.25", "scale 0.001")) ==
          "net.txt: node 0 \"d\": its scales ask for a multiplier of 2^7 or more; with wide sums it must be "
          "below "
          "2^7");
    CHECK(error_of(replaced(wide, "wide_sums 1", "wide_sums 1, rounding \"half_to_even\"")) ==
          "net.txt: node 0 \"d\": its sums are wide and its rounding is half_to_even; with wide sums it must "
          "be tflite");
    CHECK(error_of(replaced(wide, "wide_sums 1", "rounding \"float_half_even\"")) ==
          "net.txt: node 0 \"d\": its rounding is float_half_even, which is of 8 bits; it works on int16");
    const std::string transposed =
        "graph \"g\"\ninputs %0\noutputs %2\n%0 float32 1x1x2x1 \"in\"\n%1 float32 1x1x1x1 \"w\" = [2.0]\n"
        "%2 float32 1x1x2x1 \"r\"\n%2 = transposed_convolution(%0, %1) \"t\" {stride [1, 1]}\n";
    CHECK(error_of(transposed) == "none");
    for (const char* const key : {"stride", "dilation", "kernel"}) {
        CHECK_THAT(error_of(replaced(transposed, "stride [1, 1]", std::string(key) + " [0, 1]")),
                   Catch::Contains(std::string("attribute ") + key + " is [0, 1]; it must be at least 1"));
    }
}

TEST_CASE("A sum of extents that no axis can have is refused", "[compiler][ir]") {
    // So many inputs of 2^28 elements, each of which may be.
    const auto error = [](int inputs) {
        std::string names;
        std::string values;
        for (int i = 0; i < inputs; ++i) {
            names += (i == 0 ? "%" : ", %") + std::to_string(i);
            values += "%" + std::to_string(i) + " uint8 1x268435456 \"v\"\n";
        }
        const std::string result = "%" + std::to_string(inputs);
        return error_of("graph \"g\"\ninputs " + names + "\noutputs " + result + "\n" + values + result +
                        " uint8 1x1 \"r\"\n" + result + " = concat(" + names + ") \"s\" {axis 1}\n");
    };
    CHECK_THAT(error(15), Catch::Contains("its result is 1x1; it must be 1x4026531840"));
    CHECK_THAT(error(17), Catch::Contains("axis 1 of its result has 4563402752 elements; that is too large"));
}

TEST_CASE("A range is one of a float activation and holds 0", "[compiler][ir]") {
    const std::string with_range = replaced(small, "\"d\"\n%3", "\"d\" range -0.1 1e-30\n%3");
    CHECK(ir::to_text(read(with_range)) == with_range);
    CHECK(read(with_range).values[2].range == ir::Range{-0.1F, 1e-30F});
    CHECK(error_of(replaced(small, "\"d\"\n%3", "\"d\" range 0.5 1.0\n%3")) ==
          "net.txt: value %2 \"d\": its range is 0.5 to 1; it must hold 0");
    // Of what the host alone computes.
    const std::string without_end = replaced(small, "\"d\"\n%3", "\"d\" range -inf 1.0\n%3");
    CHECK(ir::to_text(read(without_end)) == without_end);
    CHECK(error_of(replaced(small, "\"d/kernel\"", "\"d/kernel\" range 0.0 1.0")) ==
          "net.txt: value %1 \"d/kernel\": it has a range; only float activations have one");
}

TEST_CASE("A graph's text reads back to an equal graph", "[compiler][ir]") {
    CHECK(ir::to_text(read(small)) == small);
    const ir::Graph graph = read(small);
    CHECK(graph.values[1].constant->values<float>()[3] == 1e-30F);
    CHECK(graph.values[3].stored_as == DataType::Int16);
    CHECK(graph.nodes[1].real("maximum") == 6.0);
    for (std::uint32_t seed = 0; seed < tests::random_runs(20); ++seed) {
        tests::GraphParts parts(seed);
        const ir::FeatureMap map = parts.shape();
        tests::Graph made(map, seed % 2 == 0 ? 8 : 16);
        made.append("conv \"quoted\"\n", parts.convolution(map, parts.window(map), 5, seed % 3 == 0), {0});
        made.append("norm\\", parts.batch_normalization(5), {1});
        made.append("leaky", tests::op("leaky_relu", {{"alpha", double{0.1F}}}), {2}, 16);
        made.append("sum", tests::op("add"), {2, 3});
        made.append("flat", tests::reshape({1, 1, static_cast<std::uint32_t>(made.shape(4).elements())}),
                    {4});
        const std::string text = ir::to_text(made);
        const ir::Graph back = read(text);
        CHECK(back == made.get());
        CHECK(ir::to_text(back) == text);
    }
}

TEST_CASE("Integer values keep scales, zero points and constants of every type", "[compiler][ir]") {
    const std::string text =
        "graph \"types\" without weights\n"
        "inputs %0\n"
        "outputs %0\n"
        "%0 uint8 1x2x2x1 \"a\" scale 0.00392156862745098 zero 255\n"
        "%1 int8 2x2 \"b\" axis 1 scales [0.5, 1e-09] zeros [0, -3] = [-128, 127, 0, 1]\n"
        "%2 int16 3 \"c\" = [-32768, 0, 32767]\n"
        "%3 int32 1 \"d\" = [-2147483648]\n"
        "%4 bfloat16 2 \"e\" = bytes 803f0040\n"
        "%5 float32 100000x200000 \"f\" = unknown\n"
        "%6 float32 scalar \"g\" = [inf]\n";
    // What nothing reads is kept: the text says all that is there.
    CHECK(ir::to_text(read(text)) == replaced(text, "bytes 803f0040", "bytes 803f0040"));
    CHECK_FALSE(read(text).has_weights);
    const ir::Graph graph = read(text);
    CHECK(graph.values[1].quantization->scales[1] == 1e-09);
    CHECK_FALSE(graph.values[5].constant->is_known());
}

TEST_CASE("Text that is wrong is refused with file, line, column, token and rule", "[compiler][ir]") {
    CHECK(error_of("") == "net.txt:1:1: \"end of file\": it must be graph");
    CHECK(error_of("graph small\n") == "net.txt:1:7: \"small\": it must be a name in quotes");
    CHECK(error_of("graph \"small\n") == "net.txt:1:7: \"\"\": the name must end in its line");
    CHECK(error_of(replaced(small, "dense(", "dence(")) ==
          "net.txt:8:6: \"dence\": there is no operator of this name; did you mean \"dense\"?");
    CHECK(error_of(replaced(small, "{maximum 6.0}", "{limit 6.0}")) ==
          "net.txt:9:20: \"limit\": it must be an attribute of relu; there is only maximum");
    CHECK(error_of(replaced(small, "{maximum 6.0}", "{maximum -6.0}")) ==
          "net.txt:9:33: \"end of line\": attribute maximum is -6.0; it must be at least 0");
    CHECK(error_of(replaced(small, "1x3", "1x3x")) ==
          "net.txt:4:12: \"1x3x\": it must be a shape of at most 6 extents, such as 1x28x28x1");
    CHECK(error_of(replaced(small, "float32 3x2", "float31 3x2")) ==
          "net.txt:5:4: \"float31\": it must be a number format; did you mean \"float32\"?");
    CHECK(error_of(replaced(small, "%1 float32", "%2 float32")) ==
          "net.txt:5:4: \"float32\": the line must be that of value %1");
    CHECK(error_of(replaced(small, ", 4.0]", "]")) ==
          "net.txt: value %1 \"d/kernel\": it has 20 bytes; 3x2 of float32 has 24");
    CHECK(error_of(replaced(small, "%3 float32 1x2", "%3 float32 1x5")) ==
          "net.txt: node 1 \"r\": its result is 1x5; it must be 1x2");
    CHECK(error_of(replaced(small, "relu(%2)", "relu(%3)")) ==
          "net.txt: node 1 \"r\": input %3 is made behind it or never");
    CHECK(error_of(replaced(small, "outputs %3", "outputs %7")) == "net.txt: output %7 is no value");
    CHECK(error_of(replaced(small, "1x3 \"input\"", "1x3 \"input\" scale 0.5 zero 0")) ==
          "net.txt: value %0 \"input\": it is of a floating type; only integers, and constants that were "
          "integers, have a scale");
    // Weights behind a `dequantize` keep the scale of the integers that they were, until fold_qdq.
    CHECK(error_of(replaced(small, "\"d/kernel\" =", "\"d/kernel\" scale 0.5 zero 0 =")) == "none");
}

TEST_CASE("The error for a graph that a pass has broken names the pass and the node", "[compiler][ir]") {
    ir::Graph graph = read(small);
    CHECK_NOTHROW(ir::verify(graph, "good"));
    CHECK_FALSE(ir::find_fault(graph).has_value());
    SECTION("a value with two definitions") {
        graph.nodes[1].outputs = {2};
        CHECK_THROWS_WITH(
            ir::verify(graph, "bad"),
            "bad: the graph of \"small\" is broken: value %2: node 1 and something before define it");
    }
    SECTION("another order") {
        std::swap(graph.nodes[0], graph.nodes[1]);
        CHECK_THROWS_WITH(
            ir::verify(graph, "bad"),
            "bad: the graph of \"small\" is broken: node 0 \"r\": input %2 is made behind it or never");
    }
    SECTION("a constant before other inputs") {
        std::swap(graph.nodes[0].inputs[0], graph.nodes[0].inputs[1]);
        CHECK_THROWS_AS(ir::verify(graph, "bad"), std::logic_error);
    }
    SECTION("an attribute against its rule") {
        graph.nodes[1].set("maximum", -1.0);
        CHECK(ir::find_fault(graph) == "node 1 \"r\": attribute maximum is -1.0; it must be at least 0");
    }
    SECTION("a type that the operator does not work on") {
        graph.values[0].type = DataType::Int32;
        CHECK(ir::find_fault(graph) ==
              "node 0 \"d\": dense works on float32, uint8, int8, int16, not on int32");
    }
    SECTION("a value that nothing makes") {
        graph.nodes.pop_back();
        CHECK(ir::find_fault(graph) == "value %3: nothing makes it");
    }
    SECTION("zero points beyond the type") {
        graph.values[1].type = DataType::Int8;
        graph.values[1].constant = ir::Constant::of(std::vector<std::int8_t>(6));
        graph.values[1].quantization = ir::Quantization{{1.0}, {128}, {}};
        CHECK(ir::find_fault(graph) ==
              "value %1 \"d/kernel\": a zero point is 128; it must be a number of its type, -128 to 127");
    }
    SECTION("scales for another number of channels") {
        graph.values[1].type = DataType::Int8;
        graph.values[1].constant = ir::Constant::of(std::vector<std::int8_t>(6));
        graph.values[1].quantization = ir::Quantization{{1.0}, {0}, 1};
        CHECK(ir::find_fault(graph) ==
              "value %1 \"d/kernel\": it has 1 scales and 1 zero points; it must have 2 of each");
    }
}

TEST_CASE("Data and parameters are divided where they are not what is computed and what is constant",
          "[compiler][ir]") {
    const std::string text =
        "graph \"g\"\ninputs %0, %1\noutputs %2\n"
        "%0 float32 1x2 \"x\"\n%1 float32 2x2 \"w\"\n%2 float32 1x2 \"d\"\n"
        "%2 = dense(%0; %1) \"d\"\n";
    const ir::Graph graph = read(text);
    CHECK(ir::to_text(graph) == text);
    CHECK(graph.nodes.front().stated_data == 1U);
    const ir::NodeView view(graph, graph.nodes.front());
    CHECK(view.data_inputs() == 1);
    CHECK(view.parameter(0) == &graph.values[1]);
    CHECK(view.computed_parameter() == "weights");
    CHECK_THROWS_WITH(view.constant(0), "\"w\" is computed by another layer; it must be a constant");
    const auto error = [&](const std::string& by) { return error_of(replaced(text, "dense(%0; %1)", by)); };
    CHECK(error("dense(%0, %1)") == "net.txt: node 0 \"d\": it must have weights of 2 extents");
    CHECK(error("dense(; %0, %1)") ==
          "net.txt: node 0 \"d\": it has 2 inputs, 0 of them data; it must have data, then parameters, at "
          "most 2: weights, bias");
    CHECK(error("dense(%0, %1; )") ==
          "net.txt: node 0 \"d\": it has 2 inputs, 2 of them data; it must have data, then parameters, at "
          "most 2: weights, bias");
    CHECK(error("dense(%0; %1, %0, %0)") ==
          "net.txt: node 0 \"d\": it has 4 inputs, 1 of them data; it must have data, then parameters, at "
          "most 2: weights, bias");
    CHECK(error("add(%0; %1)") == "net.txt: node 0 \"d\": add has no parameters to divide from data");
    CHECK(error("dense(%0; %1; %0)") == "net.txt:7:18: \";\": it must be ')'");
    CHECK(error_of(replaced(text, "2x2 \"w\"", "3x2 \"w\"")) ==
          "net.txt: node 0 \"d\": its input is 1x1x2 = 2 elements; its weights are for 3");
    // Without a division, constants come last.
    const std::string constant =
        replaced(replaced(text, "inputs %0, %1", "inputs %1"), "\"x\"", "\"x\" = [1.0, 2.0]");
    CHECK(error_of(constant) == "none");
    CHECK(error_of(replaced(constant, "dense(%0; %1)", "dense(%0, %1)")) ==
          "net.txt: node 0 \"d\": a constant precedes a computed input; ';' must divide data and parameters");
    // No rule for integers takes them.
    const std::string integers =
        "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 uint8 1x2 \"x\" scale 0.5 zero 0\n"
        "%1 int8 2x2 \"w\" scale 0.5 zero 0\n%2 uint8 1x2 \"d\" scale 0.5 zero 0\n%2 = dense(%0; %1) \"d\"\n";
    CHECK(error_of(integers) ==
          "net.txt: node 0 \"d\": another layer computes its weights; on integers, parameters must be "
          "constants");
}

TEST_CASE("State is pairs of an input and the output that replaces it", "[compiler][ir]") {
    const std::string text =
        "graph \"g\"\ninputs %0, %1\noutputs %2, %3\nstate %1 -> %2\nstate %0 -> %3\n"
        "%0 float32 1x2 \"a\"\n%1 float32 1x2 \"b\"\n%2 float32 1x2 \"c\"\n%3 float32 1x2 \"d\"\n"
        "%2 = add(%0, %1) \"c\"\n%3 = subtract(%0, %1) \"d\"\n";
    const ir::Graph graph = read(text);
    CHECK(ir::to_text(graph) == text);
    CHECK(graph.state == std::vector<ir::Graph::State>{{.input = 1, .output = 0}, {.input = 0, .output = 1}});
    const auto error = [&](const std::string& part, const std::string& by) {
        return error_of(replaced(text, part, by));
    };
    CHECK(error("state %1 -> %2", "state %2 -> %2") ==
          "net.txt:4:8: \"2\": it must be the number of an input of the network");
    CHECK(error("state %1 -> %2", "state %1 -> %1") ==
          "net.txt:4:14: \"1\": it must be the number of an output of the network");
    CHECK(error("state %1 -> %2", "state %1 %2") == "net.txt:4:10: \"%\": it must be ->");
    CHECK(error("state %1 -> %2", "state 1 -> %2") == "net.txt:4:7: \"1\": it must be '%'");
    CHECK(error("state %1 -> %2", "state %0 -> %2") ==
          "net.txt: state %0 \"a\" -> %3 \"d\": an input and an output may be of one state only");
    CHECK(error("state %0 -> %3", "state %0 -> %2") ==
          "net.txt: state %0 \"a\" -> %2 \"c\": an input and an output may be of one state only");
    CHECK(error("state %0 -> %3\n", "") == "none");
    const std::string other =
        "graph \"g\"\ninputs %0\noutputs %1\nstate %0 -> %1\n%0 float32 1x4 \"a\"\n%1 float32 1x2x2x1 \"b\"\n"
        "%1 = reshape(%0) \"b\" {shape [1, 2, 2, 1]}\n";
    CHECK(error_of(other) ==
          "net.txt: state %0 \"a\" -> %1 \"b\": both must have the same shape, type and scales, the same "
          "axes and "
          "number format in files, and be split along the same axis");
    const std::string scaled =
        "graph \"g\"\ninputs %0\noutputs %1\nstate %0 -> %1\n%0 uint8 1x4 \"a\" scale 0.5 zero 0\n"
        "%1 uint8 1x4 \"b\" scale 0.25 zero 0\n%1 = requantize(%0) \"b\"\n";
    CHECK(error_of(scaled) ==
          "net.txt: state %0 \"a\" -> %1 \"b\": both must have the same shape, type and scales, the same "
          "axes and "
          "number format in files, and be split along the same axis");
    CHECK(error_of(replaced(scaled, "scale 0.25", "scale 0.5")) == "none");
    const std::string divided =
        "graph \"g\"\nreplicas 2\ninputs %0\noutputs %1\nstate %0 -> %1\n%0 float32 1x2x2 \"a\" split 0\n"
        "%1 float32 1x2x2 \"b\" split 0\n%1 = word_chain(%0) \"b\" {steps [\"negate 0\"]}\n";
    CHECK(error_of(divided) == "none");
    for (const char* const part : {"\"b\"", "\"b\" split 1"}) {
        CHECK(error_of(replaced(divided, "\"b\" split 0", part)) ==
              "net.txt: state %0 \"a\" -> %1 \"b\": both must have the same shape, type and scales, the same "
              "axes and number format in files, and be split along the same axis");
    }
    ir::Graph broken = graph;
    broken.state.front().output = 2;
    CHECK(ir::find_fault(broken) == "a state is of inputs or outputs that the network does not have");
}

TEST_CASE("A cache is an output longer than its input along one axis, or begins", "[compiler][ir]") {
    const std::string text =
        "graph \"g\"\ninputs %0, %1, %2\noutputs %3, %4, %5\nstate %2 -> %5\ncache %0 -> %4\n"
        "cache nothing -> %3\n"
        "%0 float32 1x2x3 \"a\"\n%1 float32 1x2x1 \"b\"\n%2 float32 1x2 \"s\"\n%3 float32 1x2x4 \"c\"\n"
        "%4 float32 1x2x4 \"d\"\n%5 float32 1x2 \"t\"\n"
        "%3 = concat(%1, %0) \"c\" {axis 2}\n%4 = concat(%0, %1) \"d\" {axis 2}\n"
        "%5 = word_chain(%2) \"t\" {steps [\"negate 0\"]}\n";
    const ir::Graph graph = read(text);
    CHECK(ir::to_text(graph) == text);
    CHECK(graph.caches ==
          std::vector<ir::Graph::Cache>{{.input = 0U, .output = 1}, {.input = {}, .output = 0}});
    for (const ir::ValueId input : {0U, 2U}) CHECK(ir::is_replaced(graph, input));
    for (const ir::ValueId other : {1U, 3U, 4U}) CHECK_FALSE(ir::is_replaced(graph, other));
    const auto error = [&](const std::string& part, const std::string& by) {
        return error_of(replaced(text, part, by));
    };
    CHECK(error("cache %0 -> %4", "cache %3 -> %4") ==
          "net.txt:5:8: \"3\": it must be the number of an input of the network");
    CHECK(error("cache %0 -> %4", "cache %0 -> %1") ==
          "net.txt:5:14: \"1\": it must be the number of an output of the network");
    CHECK(error("cache %0 -> %4", "cache no -> %4") == "net.txt:5:7: \"no\": it must be '%'");
    CHECK(error("cache nothing -> %3", "cache nothing %3") == "net.txt:6:15: \"%\": it must be ->");
    const std::string of_d = "net.txt: cache of output %4 \"d\": ";
    const std::string only_one = "an input and an output may be of one cache or state only";
    CHECK(error("nothing -> %3", "nothing -> %4") == of_d + only_one);
    CHECK(error("nothing -> %3", "nothing -> %5") == "net.txt: cache of output %5 \"t\": " + only_one);
    CHECK(error("nothing -> %3", "%0 -> %3") == "net.txt: cache of output %3 \"c\": " + only_one);
    CHECK(error("nothing -> %3", "%2 -> %3") == "net.txt: cache of output %3 \"c\": " + only_one);
    // As long; longer along two axes; shorter; of another rank.
    for (const char* const shape : {"1x2x4", "1x1x3", "1x2x5", "1x8"}) {
        ir::Graph other = graph;
        const ir::Graph shaped =
            read("graph \"g\"\ninputs %0\noutputs %0\n%0 float32 " + std::string(shape) + " \"a\"\n");
        other.values[0].shape = shaped.values[0].shape;
        CHECK(ir::find_fault(other) ==
              "cache of output %4 \"d\": it must have the input's shape, but be longer along one axis");
    }
    // Both have the order of axes and the number format of the file.
    CHECK(error("\"d\"", "\"d\" axes [0, 2, 1]") ==
          of_d + "it must have the order of axes that it has in the file, and no inferences may share it");
    const std::string of_input =
        of_d +
        "its input must have the same number format and the order of axes that it has in the file, and "
        "no inferences may share it";
    CHECK(error("\"a\"", "\"a\" axes [0, 2, 1]") == of_input);
    CHECK(error("\"a\"", "\"a\" file float16") == of_input);
    CHECK(error("\"a\"", "\"a\" shared") == of_input);
    ir::Graph broken = graph;
    broken.caches.front().output = 3;
    CHECK(ir::find_fault(broken) == "a cache is of inputs or outputs that the network does not have");
    broken.caches.front() = {.input = 3U, .output = 0};
    CHECK(ir::find_fault(broken) == "a cache is of inputs or outputs that the network does not have");
    const std::string all_share =
        "graph \"g\"\ninputs %0\noutputs %1\ncache nothing -> %1\n%0 float32 2x3 \"a\" shared\n"
        "%1 float32 2x3 \"b\"\n%1 = word_chain(%0) \"b\" {steps [\"negate 0\"]}\n";
    CHECK(error_of(all_share) ==
          "net.txt: cache of output %1 \"b\": it must have the order of axes that it has in the file, and no "
          "inferences may share it");
}

TEST_CASE("One axis may be longer, and all others are equal", "[compiler][ir]") {
    using ir::Shape;
    CHECK(ir::longer_axis(Shape{1, 2, 3}, Shape{1, 2, 4}) == 2U);
    CHECK(ir::longer_axis(Shape{1, 2, 3}, Shape{5, 2, 3}) == 0U);
    for (const Shape& other :
         {Shape{1, 2, 3}, Shape{1, 2, 2}, Shape{1, 3, 4}, Shape{1, 1, 4}, Shape{1, 2}, Shape{1, 2, 3, 1}}) {
        CHECK_FALSE(ir::longer_axis(Shape{1, 2, 3}, other));
    }
    CHECK_FALSE(ir::longer_axis(Shape{}, Shape{}));
}

TEST_CASE("Values in files may be of other number formats than in the graph", "[compiler][ir]") {
    const std::string text =
        "graph \"g\"\ninputs %0\noutputs %1\n%0 int32 1x2 \"x\" file uint32\n"
        "%1 int32 1x2 \"y\" file bool\n"
        "%1 = word_chain(%0) \"y\" {steps [\"constant 0x00000005\", \"less_uint 0 1\"]}\n";
    const ir::Graph graph = read(text);
    CHECK(ir::to_text(graph) == text);
    CHECK(graph.values[0].file_type == DataType::Uint32);
    CHECK(graph.values[1].file_type == DataType::Bool);
    const std::map<DataType, std::set<std::string>> formats{
        {DataType::Float32, {"float32", "float16", "bfloat16"}},
        {DataType::Bfloat16, {"bfloat16"}},
        {DataType::Int32, {"int32", "uint8", "int8", "int16", "uint16", "uint32", "bool"}}};
    for (const auto& [type, in_files] : formats) {
        for (const std::string_view name : data_type_names) {
            const std::string typed = fmt::format(
                "graph \"g\"\ninputs %0\noutputs %1\n%0 {} 1x2 \"x\" file {}\n"
                "%1 {} 1x2 \"y\"\n%1 = reshape(%0) \"y\" {{shape [1, 2]}}\n",
                name_of(type), name, name_of(type));
            INFO(typed);
            const std::string fault = fmt::format(
                "net.txt: value %0 \"x\": it is {}, which cannot be {} in files", name_of(type), name);
            CHECK(error_of(typed) == (in_files.contains(std::string(name)) ? "none" : fault));
        }
    }
    for (const char* const name : {"uint32", "float16", "bool"}) {
        CHECK(error_of(fmt::format("graph \"g\"\ninputs %0\noutputs %0\n%0 {} 1x2 \"x\"\n", name)) ==
              fmt::format("net.txt: value %0 \"x\": its type is {}, which only files have", name));
    }
    CHECK(error_of("graph \"g\"\ninputs %0\noutputs %1\nstate %0 -> %1\n%0 int32 1x2 \"x\" file bool\n"
                   "%1 int32 1x2 \"y\"\n%1 = reshape(%0) \"y\" {shape [1, 2]}\n") ==
          "net.txt: state %0 \"x\" -> %1 \"y\": both must have the same shape, type and scales, the same "
          "axes and "
          "number format in files, and be split along the same axis");
}

TEST_CASE("A graph lists the parts of layers that are written out many times", "[compiler][ir]") {
    const std::string text =
        "graph \"g\"\nrepeated \"r/gate\"\nrepeated \"r/none\"\ninputs %0\noutputs %2\n"
        "%0 float32 1x4 \"x\"\n%1 float32 1x4 \"r/gate\"\n%2 float32 1x4 \"r/gate\"\n"
        "%1 = tanh(%0) \"r/gate\"\n%2 = tanh(%1) \"r/gate\"\n";
    const ir::Graph graph = read(text);
    CHECK(ir::to_text(graph) == text);
    CHECK(graph.repeated == std::vector<std::string>{"r/gate", "r/none"});
    CHECK(ir::repeated_nodes(graph) == std::vector<std::vector<ir::NodeId>>{{0, 1}});
    CHECK(error_of(replaced(text, "r/none", "r/gate")) ==
          "net.txt: repeated \"r/gate\": it is stated more than once");
}

TEST_CASE("A program of several replicas says which borders are split", "[compiler][ir]") {
    const std::string text =
        "graph \"g\"\nreplicas 8\ninputs %0\noutputs %1\n%0 float32 1x2x3 \"x\" split 1\n"
        "%1 float32 1x2x3 \"y\" file float16 split 0\n"
        "%1 = word_chain(%0) \"y\" {steps [\"negate 0\"]}\n";
    const ir::Graph graph = read(text);
    CHECK(ir::to_text(graph) == text);
    CHECK(graph.replicas == 8);
    CHECK(graph.values[0].split_axis == 1);
    const std::string fault =
        "net.txt: value %0 \"x\": it is split along an axis that it has not, or there is one replica";
    CHECK(error_of(replaced(text, "split 1", "split 2")) == fault);
    CHECK(error_of(replaced(text, "replicas 8\n", "")) == fault);
    CHECK(error_of(replaced(text, "replicas 8", "replicas 0")) ==
          "net.txt: it has 0 replicas; there must be at least 1");
    CHECK(
        error_of(replaced(text, "\"x\" split 1", "\"x\" axes [0, 2, 1] split 1")) ==
        "net.txt: value %0 \"x\": it has an order of axes in the file; arrays of several replicas have none");
}

TEST_CASE("Only inputs are stated to be shared; for results it follows", "[compiler][ir]") {
    const std::string text =
        "graph \"g\"\ninputs %0, %1\noutputs %2, %3, %4\n"
        "%0 float32 1x2 \"x\"\n%1 float32 1x2 \"w\" shared\n%2 float32 1x2 \"s\"\n%3 float32 1x2 \"r\"\n"
        "%4 float32 1x2 \"b\"\n"
        "%2 = add(%0, %1) \"s\"\n%3 = relu(%1) \"r\"\n"
        "%4 = reduce_sum(%0) \"b\" {axes [0], keep 1, over_batch 1}\n";
    const ir::Graph graph = read(text);
    CHECK(ir::to_text(graph) == text);
    const auto shares = [&](const ir::Graph& of) {
        std::vector<bool> shared;
        for (const ir::Value& value : of.values) shared.push_back(value.is_shared);
        return shared;
    };
    CHECK(shares(graph) == std::vector<bool>{false, true, false, true, true});
    const auto error = [&](const std::string& part, const std::string& by) {
        return error_of(replaced(text, part, by));
    };
    CHECK(error("1x2 \"r\"\n", "1x2 \"r\" shared\n") ==
          "net.txt:7:20: \"shared\": only inputs of the network are stated to be shared");
    CHECK(error("reduce_sum(%0)", "reduce_sum(%1)") ==
          "net.txt: node 2 \"b\": it combines a batch, and all inferences share its input");
    CHECK(error("axes [0]", "axes [1]") ==
          "net.txt: node 2 \"b\": it combines a batch; its axes must have the first one");
    CHECK(error("over_batch 1", "over_batch 2") ==
          "net.txt:11:57: \"end of line\": attribute over_batch is 2; it must be at most 1");
    CHECK(error("outputs %2, %3, %4\n", "outputs %2, %3, %4\nstate %0 -> %3\n") ==
          "net.txt: state %0 \"x\" -> %3 \"r\": all inferences must share both, or none");
    CHECK(error("outputs %2, %3, %4\n", "outputs %2, %3, %4\nstate %1 -> %4\n") == "none");
    ir::Graph broken = graph;
    broken.values[3].is_shared = false;
    CHECK(ir::find_fault(broken) == "node 1 \"r\": all inferences must share its result");
    broken = graph;
    broken.values[2].is_shared = true;
    CHECK(ir::find_fault(broken) ==
          "node 0 \"s\": its result must not be shared: inferences have inputs of their own");
    const std::string constant =
        "graph \"g\"\ninputs %0\noutputs %2\n%0 float32 1x2 \"x\"\n%1 float32 1x2 \"c\" = [1.0, 2.0]\n"
        "%2 float32 1x2 \"s\"\n%2 = add(%0, %1) \"s\"\n";
    broken = read(constant);
    broken.values[1].is_shared = true;
    CHECK(ir::find_fault(broken) == "value %1 \"c\": it is stated to be shared; constants are so without it");
    const std::string quantized =
        "graph \"g\"\ninputs %0\noutputs %1\n%0 uint8 1x2 \"x\" scale 0.5 zero 0\n%1 uint8 1x2 \"r\" scale "
        "0.5 zero 0\n"
        "%1 = reduce_max(%0) \"r\" {axes [0], keep 1, over_batch 1}\n";
    CHECK(error_of(quantized) == "none");
    CHECK(error_of(replaced(quantized, "reduce_max", "reduce_sum")) ==
          "net.txt: node 0 \"r\": reduce_sum over a batch of quantized numbers is not supported");
    // A graph that is built gives what the text gives.
    ir::Graph built;
    built.name = "g";
    built.add_input("x", {1, 2});
    built.add_input("w", {1, 2});
    built.values[1].is_shared = true;
    const ir::OperatorSet& all = operators::registry();
    built.outputs = {built.append("s", all.at("add"), {}, {0, 1}), built.append("r", all.at("relu"), {}, {1}),
                     built.append("b", all.at("reduce_sum"),
                                  {{"axes", std::vector<std::int64_t>{0}},
                                   {"keep", std::int64_t{1}},
                                   {"over_batch", std::int64_t{1}}},
                                  {0})};
    CHECK(built == graph);
}

TEST_CASE("The order of a sum is an attribute of products in float32 alone", "[compiler][ir]") {
    const std::string text =
        replaced(small, "%2 = dense(%0, %1) \"d\"\n", "%2 = dense(%0, %1) \"d\" {sum_tile 128}\n");
    CHECK(ir::to_text(read(text)) == text);
    CHECK(ir::to_text(read(replaced(text, "sum_tile 128", "sum_tile 0"))) == small);
    const std::string integers =
        "graph \"g\"\ninputs %0\noutputs %2\n%0 uint8 1x2 \"in\" scale 0.5 zero 3\n"
        "%1 int8 2x1 \"w\" axis 1 scales [0.5] zeros [0] = [1, 2]\n%2 uint8 1x1 \"d\" scale 0.25 zero 0\n"
        "%2 = dense(%0, %1) \"d\" {sum_tile 128}\n";
    CHECK(error_of(integers) ==
          "net.txt: node 0 \"d\": it works on integers, and `sum_tile` is of sums in float32");
}

TEST_CASE("The rounding of a node is a name, or in older texts a number", "[compiler][ir]") {
    const std::string text =
        "graph \"g\"\ninputs %0\noutputs %2\n%0 uint8 1x2 \"in\" scale 0.5 zero 3\n"
        "%1 int8 2x1 \"w\" axis 1 scales [0.5] zeros [0] = [1, 2]\n%2 uint8 1x1 \"d\" scale 0.25 zero 0\n"
        "%2 = dense(%0, %1) \"d\"\n";
    const auto with = [&](const std::string& attributes) {
        return replaced(text, "(%0, %1) \"d\"", "(%0, %1) \"d\" {" + attributes + "}");
    };
    const auto written = [&](const std::string& attributes) { return ir::to_text(read(with(attributes))); };
    CHECK(written("rounding \"tflite\"") == text);
    CHECK(written("rounding \"half_to_even\"") == with("rounding \"half_to_even\""));
    CHECK(written("rounding \"float_half_even\"") == with("rounding \"float_half_even\""));
    CHECK(written("single_rounding 0") == text);
    CHECK(written("single_rounding 1") == with("rounding \"half_to_even\""));
    CHECK(written("clamp [0, 9], single_rounding 1, real_multiplier 1") ==
          with("clamp [0, 9], rounding \"half_to_even\", real_multiplier 1"));
    const auto error = [&](const std::string& attributes) { return error_of(with(attributes)); };
    CHECK(error("rounding \"upwards\"") ==
          "net.txt:7:44: \"end of line\": attribute rounding is \"upwards\"; it must be one of tflite, "
          "half_to_even, float_half_even");
    CHECK(error("rounding 1") == "net.txt:7:34: \"1\": it must be a name in quotes");
    for (const std::string number : {"2", "-1", "0.5"}) {
        CHECK(error("single_rounding " + number) ==
              "net.txt:7:41: \"" + number + "\": it must be an integer from 0 to 1");
    }
    CHECK_THAT(error("single_rounding 1, rounding \"tflite\""),
               Catch::Contains("has no attribute \"rounding\", or it is given twice"));
    CHECK(error("rounding \"float_half_even\", real_multiplier 1") ==
          "net.txt: node 0 \"d\": it has a `real_multiplier` and its rounding is float_half_even; it must "
          "have one of them");
    CHECK(error_of(replaced(with("rounding \"float_half_even\""), "scale 0.25", "scale 1e-11")) ==
          "net.txt: node 0 \"d\": its scales ask for a multiplier of 25000000000; it must be below 2^30");
    // A graph made in the program is held to the names too.
    ir::Graph graph = read(text);
    graph.nodes.front().set("rounding", std::string("up"));
    CHECK(ir::find_fault(graph) ==
          "node 0 \"d\": attribute rounding is \"up\"; it must be one of tflite, half_to_even, "
          "float_half_even");
    for (const std::string op : {"add", "multiply"}) {
        const std::string pair =
            "graph \"g\"\ninputs %0\noutputs %1\n%0 int16 1x2 \"in\" scale 0.5 zero 0\n"
            "%1 int16 1x2 \"p\" scale 0.5 zero 0\n%1 = " +
            op + "(%0, %0) \"p\" {rounding \"float_half_even\"}\n";
        CHECK(
            error_of(pair) ==
            "net.txt: node 0 \"p\": its rounding is float_half_even, which is of 8 bits; it works on int16");
        const std::string bytes = replaced(replaced(pair, "int16", "uint8"), "int16", "uint8");
        CHECK(error_of(bytes) == "none");
        CHECK_THAT(error_of(replaced(bytes, "scale 0.5 zero 0\n%1 =", "scale 1e-11 zero 0\n%1 =")),
                   op == "add" ? Catch::Contains("a multiplier of 50000000000; it must be below 2^30")
                               : Catch::Contains("none"));
    }
}

TEST_CASE(
    "Drawn graphs with computed weights, state, caches, shared values and orders of sums read back equal",
    "[compiler][ir]") {
    const ir::OperatorSet& all = operators::registry();
    std::uint32_t divided = 0;
    std::uint32_t with_state = 0;
    std::uint32_t with_cache = 0;
    std::uint32_t combined = 0;
    for (std::uint32_t seed = 0; seed < tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        tests::GraphParts parts(seed);
        ir::Graph graph;
        graph.name = "drawn";
        const std::uint32_t extent = parts.number(1, 4);
        // Square matrices, so that any value can be data, weights, or what replaces an input.
        std::vector<ir::ValueId> values;
        const std::uint32_t inputs = parts.number(1, 3);
        for (std::uint32_t i = 0; i < inputs; ++i) {
            values.push_back(graph.add_input("in", {extent, extent}));
            graph.values[values.back()].is_shared = parts.number(0, 2) == 0;
        }
        values.push_back(graph.add_constant("c", {extent, extent}, DataType::Float32,
                                            parts.values(std::uint64_t{extent} * extent)));
        const auto any = [&] {
            return values[parts.number(0, static_cast<std::uint32_t>(values.size()) - 1)];
        };
        const std::uint32_t nodes = parts.number(1, 8);
        for (std::uint32_t i = 0; i < nodes; ++i) {
            const std::uint32_t kind = parts.number(0, 3);
            const ir::ValueId a = any();
            const ir::ValueId b = any();
            if (kind == 0) {
                values.push_back(graph.append("sum", all.at("add"), {}, {a, b}));
            } else if (kind == 1 && graph.values[a].has_batch()) {
                const ir::ValueId row = graph.append("over", all.at("reduce_sum"),
                                                     {{"axes", std::vector<std::int64_t>{0}},
                                                      {"keep", std::int64_t{1}},
                                                      {"over_batch", std::int64_t{1}}},
                                                     {a});
                CHECK(graph.values[row].is_shared);
                values.push_back(graph.append("wide", all.at("add"), {}, {row, b}));
                ++combined;
            } else {
                const ir::ValueId flat =
                    graph.append("row", all.at("reduce_max"),
                                 {{"axes", std::vector<std::int64_t>{0}}, {"keep", std::int64_t{1}}}, {a});
                const ir::ValueId product =
                    graph.append("d", all.at("dense"), {{"sum_tile", std::int64_t{parts.number(0, 3)}}},
                                 {flat, b}, DataType::Uint8, {}, 1);
                values.push_back(graph.append("back", all.at("add"), {}, {product, b}));
                ++divided;
            }
        }
        graph.outputs.push_back(values.back());
        for (std::uint32_t i = 0; i < inputs && parts.number(0, 1) == 0; ++i) {
            const ir::ValueId output = any();
            if (graph.values[output].constant || ir::is_output(graph, output)) continue;
            graph.outputs.push_back(output);
            if (graph.values[output].is_shared != graph.values[graph.inputs[i]].is_shared) continue;
            graph.state.push_back(
                {.input = i, .output = static_cast<std::uint32_t>(graph.outputs.size() - 1)});
            ++with_state;
        }
        // Inputs of no state get longer.
        for (std::uint32_t i = 0; i < inputs; ++i) {
            const bool has_batch = graph.values[graph.inputs[i]].has_batch();
            if (!has_batch || ir::is_replaced(graph, graph.inputs[i]) || parts.number(0, 2) > 0) continue;
            const ir::ValueId longer = graph.append("longer", all.at("concat"), {{"axis", std::int64_t{1}}},
                                                    {graph.inputs[i], any()});
            ir::Graph::Cache cache{.input = {}, .output = static_cast<std::uint32_t>(graph.outputs.size())};
            if (parts.number(0, 3) > 0) cache.input = i;
            graph.outputs.push_back(longer);
            graph.caches.push_back(cache);
            ++with_cache;
        }
        if (graph.values[graph.outputs.front()].constant) continue;
        REQUIRE(ir::find_fault(graph).value_or("none") == "none");
        const std::string text = ir::to_text(graph);
        const ir::Graph back = read(text);
        CHECK(back == graph);
        CHECK(ir::to_text(back) == text);
    }
    CHECK(divided >= tests::random_share(100));
    CHECK(with_state >= tests::random_share(20));
    CHECK(with_cache >= tests::random_share(20));
    CHECK(combined >= tests::random_share(50));
}
