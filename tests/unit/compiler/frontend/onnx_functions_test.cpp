// What stands around the operators of an ONNX file: functions, graphs inside of nodes, operator sets, and
// outputs that are constants.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "compiler/reference/executor.h"
#include "tests/support/files.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using tests::OnnxModel;
using tests::refusal_of;
using tests::with_attribute;

namespace {

using Names = std::vector<std::string>;

NodeProto node_of(const std::string& op, const Names& inputs, const Names& outputs,
                  const std::string& domain = "") {
    NodeProto node;
    node.set_op_type(op);
    node.set_domain(domain);
    node.set_name("n_" + outputs.front());
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
}

/// A node of which an attribute is one of the function's.
NodeProto with_reference(NodeProto node, const std::string& name, const std::string& of_function) {
    AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_ref_attr_name(of_function);
    attribute.set_type(AttributeProto::FLOAT);
    return node;
}

FunctionProto& function(OnnxModel& model, const std::string& name, const Names& inputs, const Names& outputs,
                        const std::vector<NodeProto>& nodes, std::int64_t opset = 13) {
    FunctionProto& made = *model.proto().add_functions();
    made.set_name(name);
    made.set_domain("pkg");
    for (const std::string& input : inputs) made.add_input(input);
    for (const std::string& output : outputs) made.add_output(output);
    for (const NodeProto& node : nodes) *made.add_node() = node;
    made.add_opset_import()->set_version(opset);
    return made;
}

/// Writes a field that the library may not know.
template <typename Message>
void add_newer_field(Message& message, int number, const std::string& contents) {
    constexpr unsigned delimited = 2;
    constexpr std::size_t longest = 127;
    REQUIRE(contents.size() <= longest);
    std::string bytes = message.SerializeAsString();
    bytes += static_cast<char>((static_cast<unsigned>(number) << 3U) | delimited);
    bytes += static_cast<char>(contents.size());
    REQUIRE(message.ParseFromString(bytes + contents));
}

NodeProto& call(OnnxModel& model, const std::string& name, const Names& inputs, const Names& outputs) {
    NodeProto& node = model.node(name, inputs, outputs);
    node.set_domain("pkg");
    return node;
}

OnnxModel on_row() {
    OnnxModel model;
    model.input("x", {1, 3}).output("y");
    return model;
}

std::vector<float> computed(OnnxModel& model, const std::vector<float>& input) {
    const ir::Graph graph = model.read();
    REQUIRE(ir::find_fault(graph) == std::nullopt);
    return reference::execute(graph, input, 1);
}

}  // namespace

TEST_CASE("Functions of an ONNX file are expanded where they are called, also inside of each other",
          "[compiler][frontend]") {
    OnnxModel model = on_row();
    model.floats("w", {3}, {1, 2, 3});
    function(model, "Twice", {"a"}, {"b"}, {node_of("Add", {"a", "a"}, {"b"})});
    // Nodes in any order, and names that the network has, too.
    function(model, "Scaled", {"x", "w"}, {"y"},
             {node_of("Sub", {"t", "x"}, {"y"}), node_of("Mul", {"s", "w"}, {"t"}),
              node_of("Twice", {"x"}, {"s"}, "pkg")});
    call(model, "Scaled", {"x", "w"}, {"t"});
    call(model, "Scaled", {"t", "w"}, {"y"});
    // (2 w - 1)^2 x
    CHECK(computed(model, {1, 10, 100}) == std::vector<float>{1, 90, 2500});
    const ir::Graph graph = model.read();
    CHECK(graph.nodes.front().name == "n_t/n_s/n_b");
    CHECK(graph.output().name == "y");
}

TEST_CASE("Attributes of an ONNX function are those of its call, or their defaults", "[compiler][frontend]") {
    const auto made = [](bool has_default) {
        OnnxModel model = on_row();
        FunctionProto& leaky =
            function(model, "Leaky", {"a"}, {"b"},
                     {with_reference(node_of("LeakyRelu", {"a"}, {"b"}), "alpha", "slope")});
        leaky.add_attribute("slope");
        if (has_default) {
            AttributeProto value;
            value.set_name("slope");
            value.set_type(AttributeProto::FLOAT);
            value.set_f(0.5F);
            add_newer_field(leaky, 11, value.SerializeAsString());
        }
        return model;
    };
    SECTION("of its call") {
        OnnxModel model = made(true);
        with_attribute(call(model, "Leaky", {"x"}, {"y"}), "slope", 0.25F);
        CHECK(computed(model, {-4, 0, 4}) == std::vector<float>{-1, 0, 4});
    }
    SECTION("their default") {
        OnnxModel model = made(true);
        call(model, "Leaky", {"x"}, {"y"});
        CHECK(computed(model, {-4, 0, 4}) == std::vector<float>{-2, 0, 4});
    }
    SECTION("none: that of the operator") {
        OnnxModel model = made(false);
        call(model, "Leaky", {"x"}, {"y"});
        CHECK(computed(model, {-100, 0, 4}) == std::vector<float>{-1, 0, 4});
    }
    SECTION("handed on by the function around it, under another name") {
        OnnxModel model = made(true);
        function(model, "Outer", {"a"}, {"b"},
                 {with_reference(node_of("Leaky", {"a"}, {"t"}, "pkg"), "slope", "first"),
                  with_reference(node_of("Leaky", {"t"}, {"b"}, "pkg"), "slope", "second")});
        with_attribute(with_attribute(call(model, "Outer", {"x"}, {"y"}), "first", 0.25F), "second", 0.5F);
        CHECK(computed(model, {-8, 0, 4}) == std::vector<float>{-1, 0, 4});
    }
    SECTION("the number of a constant") {
        OnnxModel model = on_row();
        NodeProto number = node_of("Constant", {}, {"c"});
        function(model, "Plus", {"a"}, {"b"},
                 {with_reference(number, "value_float", "number"), node_of("Add", {"a", "c"}, {"b"})});
        with_attribute(call(model, "Plus", {"x"}, {"t"}), "number", 1.5F);
        with_attribute(call(model, "Plus", {"t"}, {"y"}), "number", 100.0F);
        CHECK(computed(model, {1, 2, 3}) == std::vector<float>{102.5F, 103.5F, 104.5F});
    }
}

TEST_CASE("A constant of an ONNX function is one constant for all its calls", "[compiler][frontend]") {
    OnnxModel model = on_row();
    NodeProto weights = node_of("Constant", {}, {"w"});
    AttributeProto& value = *weights.add_attribute();
    value.set_name("value");
    value.set_type(AttributeProto::TENSOR);
    TensorProto& tensor = *value.mutable_t();
    tensor.set_data_type(TensorProto::FLOAT);
    tensor.add_dims(3);
    for (const float number : {1.0F, 2.0F, 3.0F}) tensor.add_float_data(number);
    function(model, "Scaled", {"a"}, {"b"}, {weights, node_of("Mul", {"a", "w"}, {"b"})});
    std::string from = "x";
    for (const std::string to : {"t", "u", "y"}) {
        call(model, "Scaled", {from}, {to});
        from = to;
    }
    CHECK(computed(model, {1, 1, 1}) == std::vector<float>{1, 8, 27});
    const ir::Graph graph = model.read();
    CHECK(std::ranges::count_if(graph.values, [](const ir::Value& v) { return v.constant.has_value(); }) ==
          1);
}

TEST_CASE("A node of an ONNX function has the function's operator set", "[compiler][frontend]") {
    // Softmax flattens its input before operator set 13.
    const auto result = [](std::int64_t of_function) {
        OnnxModel model;
        model.input("x", {1, 2, 2}).output("y");
        NodeProto softmax = node_of("Softmax", {"a"}, {"b"});
        with_attribute(softmax, "axis", std::int64_t{1});
        function(model, "F", {"a"}, {"b"}, {softmax}, of_function);
        call(model, "F", {"x"}, {"y"});
        return computed(model, {0, 0, 0, 0});
    };
    CHECK(result(13) == std::vector<float>(4, 0.5F));
    CHECK(result(11) == std::vector<float>(4, 0.25F));
}

TEST_CASE("Functions of one name are told apart by their overload", "[compiler][frontend]") {
    OnnxModel model = on_row();
    add_newer_field(function(model, "F", {"a"}, {"b"}, {node_of("Neg", {"a"}, {"b"})}), 13, "negative");
    add_newer_field(function(model, "F", {"a"}, {"b"}, {node_of("Add", {"a", "a"}, {"b"})}), 13, "twice");
    add_newer_field(call(model, "F", {"x"}, {"y"}), 8, "twice");
    CHECK(computed(model, {1, 2, 3}) == std::vector<float>{2, 4, 6});
}

TEST_CASE("Functions leave out inputs behind the last and results that nobody reads",
          "[compiler][frontend]") {
    OnnxModel model = on_row();
    model.floats("low", {}, {2});
    function(model, "F", {"a", "low", "high"}, {"b", "c"},
             {node_of("Clip", {"a", "low", "high"}, {"b"}), node_of("Neg", {"a"}, {"c"})});
    call(model, "F", {"x", "low"}, {"y"});
    CHECK(computed(model, {1, 2, 3}) == std::vector<float>{2, 2, 3});
}

TEST_CASE("Wrong functions of an ONNX file are refused in one line", "[compiler][frontend]") {
    OnnxModel model = on_row();
    std::string expected;
    SECTION("one that calls itself") {
        function(model, "F", {"a"}, {"b"}, {node_of("G", {"a"}, {"b"}, "pkg")});
        function(model, "G", {"a"}, {"b"}, {node_of("F", {"a"}, {"b"}, "pkg")});
        call(model, "F", {"x"}, {"y"});
        expected = R"(node "n_y" ("F"): node "n_b" ("G"): node "n_b" ("F"): function "pkg.F" calls itself)";
    }
    SECTION("ones that grow to more than there is room for") {
        const auto name = [](int i) { return "F" + std::to_string(i); };
        function(model, name(0), {"a"}, {"b"}, {node_of("Neg", {"a"}, {"b"})});
        for (int i = 1; i < 40; ++i) {
            function(model, name(i), {"a"}, {"b"},
                     {node_of(name(i - 1), {"a"}, {"t"}, "pkg"), node_of(name(i - 1), {"t"}, {"b"}, "pkg")});
        }
        call(model, name(39), {"x"}, {"y"});
        const std::string message = refusal_of(model);
        CHECK_THAT(message, Catch::Contains("with this call, the nodes of the file's functions are"));
        CHECK_THAT(message, !Catch::Contains("\n"));
        return;
    }
    SECTION("one that is there twice") {
        for (int i = 0; i < 2; ++i) function(model, "F", {"a"}, {"b"}, {node_of("Neg", {"a"}, {"b"})});
        expected = R"(function "pkg.F": it is defined twice)";
    }
    SECTION("too many inputs") {
        function(model, "F", {"a"}, {"b"}, {node_of("Neg", {"a"}, {"b"})});
        call(model, "F", {"x", "x"}, {"y"});
        expected =
            R"(node "n_y" ("F"): it has 2 inputs and 1 result; function "pkg.F" has 1 input and 1 result)";
    }
    SECTION("a result that nothing makes") {
        function(model, "F", {"a"}, {"c"}, {node_of("Neg", {"a"}, {"b"})});
        call(model, "F", {"x"}, {"y"});
        expected = R"(node "n_y" ("F"): its result "y" is "c", which nothing makes)";
    }
    SECTION("an input that is left out and read") {
        function(model, "F", {"a", "b"}, {"c"}, {node_of("Add", {"a", "b"}, {"c"})});
        call(model, "F", {"x"}, {"y"});
        expected = R"(node "n_y" ("F"): node "n_c" ("Add"): its input 1 is left out; it must be given)";
    }
    SECTION("tensors of the network are not those of a function") {
        function(model, "F", {"a"}, {"b"}, {node_of("Add", {"a", "x"}, {"b"})});
        call(model, "F", {"x"}, {"y"});
        expected = R"(node "n_y" ("F"): node "n_b" ("Add"): it reads "x", which nothing makes)";
    }
    SECTION("an operator set that is too old") {
        function(model, "F", {"a"}, {"b"}, {node_of("Add", {"a", "a"}, {"b"})}, 6);
        call(model, "F", {"x"}, {"y"});
        expected =
            R"(node "n_y" ("F"): node "n_b" ("Add"): this operator of operator set 6 is not supported; before )"
            "set 7, only operators that it has not changed are";
    }
    SECTION("a constant without a value") {
        function(model, "F", {"a"}, {"b"},
                 {with_reference(node_of("Constant", {}, {"b"}), "value_float", "number")});
        call(model, "F", {"x"}, {"y"});
        expected =
            R"(node "n_y" ("F"): node "n_b" ("Constant"): attribute "value_float": its value is "number" of a )"
            "call, which has none";
    }
    CHECK(refusal_of(model) == expected);
}

namespace {

/// An If that doubles or negates x, by a condition.
NodeProto& choice(OnnxModel& model, const std::string& condition) {
    NodeProto& node = model.node("If", {condition}, {"y"});
    for (const bool is_true : {true, false}) {
        AttributeProto& attribute = *node.add_attribute();
        attribute.set_name(is_true ? "then_branch" : "else_branch");
        attribute.set_type(AttributeProto::GRAPH);
        ::onnx::GraphProto& graph = *attribute.mutable_g();
        graph.add_output()->set_name("r");
        if (is_true) {
            TensorProto& two = *graph.add_initializer();
            two.set_name("two");
            two.set_data_type(TensorProto::FLOAT);
            two.add_float_data(2);
            *graph.add_node() = node_of("Mul", {"x", "two"}, {"r"});
        } else {
            *graph.add_node() = node_of("Neg", {"x"}, {"r"});
        }
    }
    return node;
}

}  // namespace

TEST_CASE("An If whose condition follows from constants is the graph that it chooses",
          "[compiler][frontend]") {
    const bool is_true = GENERATE(true, false);
    OnnxModel model = on_row();
    const std::vector<float> expected =
        is_true ? std::vector<float>{2, 4, 6} : std::vector<float>{-1, -2, -3};
    SECTION("a constant") {
        model.raw("c", TensorProto::BOOL, {},
                  std::vector<std::uint8_t>{is_true ? std::uint8_t{1} : std::uint8_t{0}});
        choice(model, "c");
        CHECK(computed(model, {1, 2, 3}) == expected);
    }
    SECTION("computed from a shape") {
        model.raw("three", TensorProto::INT64, {1}, std::vector<std::int64_t>{is_true ? 3 : 4});
        model.raw("last", TensorProto::INT64, {1}, std::vector<std::int64_t>{1});
        model.node("Shape", {"x"}, {"s"});
        model.node("Gather", {"s", "last"}, {"extent"});
        model.node("Equal", {"extent", "three"}, {"c"});
        choice(model, "c");
        CHECK(computed(model, {1, 2, 3}) == expected);
    }
    SECTION("in a function, twice") {
        NodeProto node;
        {
            OnnxModel other;
            node = choice(other, "c");
        }
        node.set_output(0, "z");
        function(model, "F", {"x", "c"}, {"z"}, {node});
        model.raw("c", TensorProto::BOOL, {},
                  std::vector<std::uint8_t>{is_true ? std::uint8_t{1} : std::uint8_t{0}});
        call(model, "F", {"x", "c"}, {"t"});
        call(model, "F", {"t", "c"}, {"y"});
        CHECK(computed(model, {1, 2, 3}) ==
              (is_true ? std::vector<float>{4, 8, 12} : std::vector<float>{1, 2, 3}));
    }
}

TEST_CASE("An If reads tensors of the graph around it that come behind it in the file",
          "[compiler][frontend]") {
    OnnxModel model;
    model.input("a", {1, 3}).output("y");
    model.raw("c", TensorProto::BOOL, {}, std::vector<std::uint8_t>{0});
    choice(model, "c");
    model.node("Relu", {"a"}, {"x"});
    CHECK(computed(model, {-1, 2, 3}) == std::vector<float>{0, -2, -3});
}

TEST_CASE("An If that cannot be chosen is refused", "[compiler][frontend]") {
    OnnxModel model = on_row();
    std::string expected;
    SECTION("by a number that the network computes") {
        model.input("c", {1}, TensorProto::BOOL);
        choice(model, "c");
        expected =
            R"(node "n_y" ("If"): its condition is computed by the network; it must follow from constants)";
    }
    SECTION("by two numbers") {
        model.raw("c", TensorProto::BOOL, {2}, std::vector<std::uint8_t>{0, 1});
        choice(model, "c");
        expected = R"(node "n_y" ("If"): its condition is 2; it must be one number)";
    }
    SECTION("without the graph") {
        model.raw("c", TensorProto::BOOL, {}, std::vector<std::uint8_t>{1});
        choice(model, "c").mutable_attribute(0)->set_name("other");
        expected = R"(node "n_y" ("If"): attribute then_branch is absent; it must be a graph)";
    }
    SECTION("with more results than the graph") {
        model.raw("c", TensorProto::BOOL, {}, std::vector<std::uint8_t>{1});
        choice(model, "c").add_output("z");
        expected = R"(node "n_y" ("If"): it has 2 results; its then_branch has 1 result)";
    }
    SECTION("with a wrong node") {
        model.raw("c", TensorProto::BOOL, {}, std::vector<std::uint8_t>{1});
        choice(model, "c").mutable_attribute(0)->mutable_g()->mutable_node(0)->set_op_type("Loop");
        expected =
            R"(node "n_y" ("If"): node "n_r" ("Loop"): this operator of operator set 13 is not supported: )"
            "docs/operators.md lists those that are";
    }
    CHECK(refusal_of(model) == expected);
}

TEST_CASE("Operator sets of an ONNX file are judged by their domain", "[compiler][frontend]") {
    OnnxModel model = on_row();
    model.node("Relu", {"x"}, {"y"});
    auto& own = *model.proto().mutable_opset_import(0);
    std::string expected = "no error";
    SECTION("of a domain that no node is of") {
        model.import_set("com.example", 3);
    }
    SECTION("of onnxruntime's operators") {
        model.import_set("com.microsoft", 1);
    }
    SECTION("of a newer set of onnxruntime's operators") {
        model.import_set("com.microsoft", 2);
        expected = R"(its operator set of the domain "com.microsoft" is 2; it must be 1)";
    }
    SECTION("oldest with this operator as it is") {
        own.set_version(6);
    }
    SECTION("too old") {
        own.set_version(5);
        expected = R"(node "n_y" ("Relu"): this operator of operator set 5 is not supported; before set 7, )"
                   "only operators that it has not changed are";
    }
    SECTION("no set") {
        own.set_version(0);
        expected = "its operator set is 0; it must be 1 or newer";
    }
    SECTION("newest") {
        own.set_version(25);
    }
    SECTION("unknown") {
        own.set_version(26);
        expected = "its operator set is 26; the newest that is known is 25";
    }
    SECTION("far beyond") {
        own.set_version(99);
        expected = "its operator set is 99; the newest that is known is 25";
    }
    SECTION("of another domain alone") {
        own.set_domain("com.microsoft");
        own.set_version(1);
        expected =
            R"(node "n_y" ("Relu"): it is one of ONNX's own operators, but the file imports only operator )"
            "sets of other domains";
    }
    SECTION("none") {
        model.proto().clear_opset_import();
        expected = R"(node "n_y" ("Relu"): this operator of operator set 1 is not supported; before set 7, )"
                   "only operators that it has not changed are";
    }
    SECTION("an operator of a domain that is not known") {
        model.import_set("com.example", 1);
        model.graph().mutable_node(0)->set_domain("com.example");
        expected = R"(node "n_y" ("Relu"): this operator of the domain "com.example" is not supported: )"
                   "docs/operators.md lists those that are, and the file has no function of this name";
    }
    CHECK(refusal_of(model) == expected);
}

TEST_CASE("A file of functions alone needs no operators of ONNX's own", "[compiler][frontend]") {
    OnnxModel model = on_row();
    function(model, "F", {"a"}, {"b"}, {node_of("Neg", {"a"}, {"b"})});
    call(model, "F", {"x"}, {"y"});
    model.proto().mutable_opset_import(0)->set_domain("pkg");
    model.proto().mutable_opset_import(0)->set_version(1);
    CHECK(computed(model, {1, 2, 3}) == std::vector<float>{-1, -2, -3});
}

TEST_CASE("Outputs of an ONNX network that are constants keep their place, and nothing computes them",
          "[compiler][frontend]") {
    OnnxModel model;
    model.input("x", {1, 3}).floats("c", {2}, {5, 6});
    for (const char* const output : {"first", "y", "c", "again", "z"}) model.output(output);
    model.node("Relu", {"x"}, {"y"});
    model.node("Neg", {"x"}, {"z"});
    model.node("Identity", {"c"}, {"again"});
    model.node("Shape", {"y"}, {"first"});
    const ir::Graph graph = model.read();
    REQUIRE(graph.outputs.size() == 2);
    CHECK(graph.values[graph.outputs[0]].name == "y");
    CHECK(graph.values[graph.outputs[1]].name == "z");
    REQUIRE(graph.constant_outputs.size() == 3);
    const std::vector<std::pair<std::size_t, std::string>> places{{0, "first"}, {2, "c"}, {3, "again"}};
    for (std::size_t i = 0; i < places.size(); ++i) {
        CHECK(graph.constant_outputs[i].place == places[i].first);
        CHECK(graph.constant_outputs[i].value.name == places[i].second);
    }
    CHECK(graph.constant_outputs[0].value.type == DataType::Int32);
    const auto numbers = graph.constant_outputs[2].value.constant->values<float>();
    CHECK(std::vector<float>(numbers.begin(), numbers.end()) == std::vector<float>{5, 6});
}

TEST_CASE("An ONNX network of constants alone is refused", "[compiler][frontend]") {
    OnnxModel model;
    model.input("x", {1, 3}).floats("c", {2}, {5, 6}).output("c");
    CHECK(refusal_of(model) ==
          "all its outputs are constants; at least one must be computed from its inputs");
}

TEST_CASE("The files of external data are known in functions and in graphs inside of nodes",
          "[compiler][frontend]") {
    const tests::Folder folder;
    for (const char* const name : {"f.bin", "g.bin", "d.bin"}) folder.file(name, std::string(64, 'x'));
    OnnxModel model = on_row();
    model.raw("c", TensorProto::BOOL, {}, std::vector<std::uint8_t>{1});
    auto& branch = *choice(model, "c").mutable_attribute(0)->mutable_g();
    tests::place_outside(*branch.mutable_initializer(0), "g.bin", 0, 4);
    NodeProto constant = node_of("Constant", {}, {"k"});
    auto& value = tests::attribute(constant, "value", AttributeProto::TENSOR);
    tests::place_outside(*value.mutable_t(), "f.bin", 0, 4);
    FunctionProto& made = function(model, "F", {"a"}, {"k"}, {constant});
    AttributeProto given;
    given.set_name("d");
    tests::place_outside(*given.mutable_t(), "d.bin", 0, 4);
    add_newer_field(made, 11, given.SerializeAsString());
    CHECK(frontend::further_files(folder.file("m.onnx", model.bytes())) ==
          std::vector<std::filesystem::path>{"d.bin", "f.bin", "g.bin"});
    // Far more graphs inside each other than protobuf reads.
    ::onnx::GraphProto inner;
    for (int i = 0; i < 200; ++i) {
        ::onnx::GraphProto outer;
        *outer.add_node()->add_attribute()->mutable_g() = inner;
        inner.Swap(&outer);
    }
    *model.proto().mutable_graph() = inner;
    CHECK(frontend::further_files(folder.file("deep.onnx", model.bytes())).empty());
}
