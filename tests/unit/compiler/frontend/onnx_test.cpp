#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "tests/support/files.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using ::onnx::TensorProto;
using tests::OnnxModel;
using tests::with_attribute;

namespace {

std::vector<float> run_floats(const ir::Graph& graph, const std::vector<float>& input) {
    return reference::execute(graph, input, 1);
}

std::string onnx_message(const std::function<void()>& reading) {
    try {
        reading();
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

void check_onnx_message(OnnxModel model, const std::vector<std::string>& words) {
    const std::string message = onnx_message([&] { static_cast<void>(model.read()); });
    INFO(message);
    CHECK(message.find('\n') == std::string::npos);
    for (const std::string& word : words) {
        INFO(word);
        CHECK(message.find(word) != std::string::npos);
    }
}

/// A product of a row of two numbers and a 2x2 matrix.
OnnxModel row_product() {
    OnnxModel model;
    model.input("x", {1, 2}).floats("w", {2, 2}, {1, 2, 3, 4}).output("y");
    model.node("MatMul", {"x", "w"}, {"y"});
    return model;
}

}  // namespace

TEST_CASE("An ONNX model is read into a graph", "[compiler][frontend]") {
    const ir::Graph graph = row_product().read();
    CHECK(graph.input().name == "x");
    CHECK(graph.output().name == "y");
    CHECK(run_floats(graph, {10, 100}) == std::vector<float>{310, 420});
}

TEST_CASE("An ONNX file is known by its content", "[compiler][frontend]") {
    const std::string bytes = row_product().bytes();
    CHECK(frontend::is_onnx(std::string_view(bytes).substr(0, 64)));
    const std::vector<std::string> others{
        "",     "{\"schema\": 1}", "PK\x03\x04", "graph \"g\"\ninputs %0\n", "\x89HDF\r\n\x1a\n",
        "\x08", "\x08\x01",        "\x1c"};
    for (const std::string& other : others) {
        INFO(other);
        CHECK_FALSE(frontend::is_onnx(other));
    }
    // TFLite: an offset of 8 or 28 bytes, then its identifier.
    CHECK_FALSE(frontend::is_onnx(std::string_view("\x08\0\0\0TFL3\0\0\0\0", 12)));

    const tests::Folder folder;
    const std::string path = folder.file("network.bin", bytes);
    CHECK(frontend::read_network(path).name == "network");
    const std::string cut = folder.file("cut.onnx", bytes.substr(0, bytes.size() - 5));
    CHECK(onnx_message([&] { frontend::read_network(cut); }) == cut + ": it is damaged: it is no ONNX model");
}

TEST_CASE("Nodes of an ONNX model may come in any order", "[compiler][frontend]") {
    OnnxModel model;
    model.input("x", {1, 2}).floats("w", {2, 2}, {1, 0, 0, 2}).output("z");
    model.node("MatMul", {"y", "w"}, {"z"});
    model.node("MatMul", {"x", "w"}, {"y"});
    CHECK(run_floats(model.read(), {3, 5}) == std::vector<float>{3, 20});
}

TEST_CASE("Tensors of all types become constants of the graph", "[compiler][frontend]") {
    OnnxModel model = row_product();
    model.graph().clear_initializer();
    SECTION("float16, raw: normal, subnormal, negative") {
        model.raw("w", TensorProto::FLOAT16, {2, 2},
                  std::vector<std::uint16_t>{0x3c00, 0xc000, 0x0001, 0x7bff});
        CHECK(run_floats(model.read(), {1, 0}) == std::vector<float>{1, -2});
        CHECK(run_floats(model.read(), {0, 1}) == std::vector<float>{0x1p-24F, 65504});
    }
    SECTION("float16 in int32_data") {
        auto& tensor = model.tensor("w", TensorProto::FLOAT16, {2, 2});
        for (const std::int32_t bits : {0x3c00, 0x4000, 0x4200, 0x4400}) tensor.add_int32_data(bits);
        CHECK(run_floats(model.read(), {1, 10}) == std::vector<float>{31, 42});
    }
    SECTION("bfloat16") {
        model.raw("w", TensorProto::BFLOAT16, {2, 2},
                  std::vector<std::uint16_t>{0x3f80, 0x4000, 0x4040, 0x4080});
        CHECK(run_floats(model.read(), {1, 10}) == std::vector<float>{31, 42});
    }
    SECTION("double") {
        model.raw("w", TensorProto::DOUBLE, {2, 2}, std::vector<double>{1, 2, 3, 4});
        CHECK(run_floats(model.read(), {1, 10}) == std::vector<float>{31, 42});
    }
    SECTION("float, raw") {
        model.raw("w", TensorProto::FLOAT, {2, 2}, std::vector<float>{1, 2, 3, 4});
        CHECK(run_floats(model.read(), {1, 10}) == std::vector<float>{31, 42});
    }
    SECTION("a file in the model's folder, from an offset on") {
        const tests::Folder folder;
        const std::vector<float> values{9, 1, 2, 3, 4};
        folder.file("data/w.bin", std::string(reinterpret_cast<const char*>(values.data()), 20));
        auto& tensor = model.tensor("w", TensorProto::FLOAT, {2, 2});
        tests::place_outside(tensor, "data/w.bin", 4, 16);
        const std::string path = folder.file("m.onnx", model.bytes());
        CHECK(run_floats(frontend::read_network(path), {1, 10}) == std::vector<float>{31, 42});
    }
}

TEST_CASE("The files of a model's external data are known without reading its tensors",
          "[compiler][frontend]") {
    const tests::Folder folder;
    for (const char* const name : {"data/w.bin", "b.bin", "unused.bin"})
        folder.file(name, std::string(64, 'x'));
    OnnxModel model;
    model.input("x", {1, 2}).floats("inside", {2, 2}, {1, 2, 3, 4}).output("y");
    tests::place_outside(model.tensor("w", TensorProto::FLOAT, {2, 2}), "data/w.bin", 0, 16);
    tests::place_outside(model.tensor("v", TensorProto::FLOAT, {2, 2}), "data/w.bin", 16, 16);
    tests::place_outside(model.tensor("missing", TensorProto::FLOAT, {2}), "missing.bin", 0, 8);
    tests::place_outside(model.tensor("outside", TensorProto::FLOAT, {2}), "../b.bin", 0, 8);
    auto& constant = model.node("Constant", {}, {"c"});
    auto& tensor = *tests::attribute(constant, "value", ::onnx::AttributeProto::TENSOR).mutable_t();
    tests::place_outside(tensor, "b.bin", 0, 8);
    const std::vector<std::filesystem::path> both{"b.bin", "data/w.bin"};
    CHECK(frontend::further_files(folder.file("m.onnx", model.bytes())) == both);
    // Of a damaged file, those before the damage.
    const std::string whole = model.bytes();
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        CHECK(frontend::further_files(folder.file("cut.onnx", whole.substr(0, bytes))).size() <= both.size());
    }
    CHECK(frontend::further_files(folder.file("net.json", "{}")).empty());
    CHECK(frontend::further_files(folder / "none.onnx").empty());
}

TEST_CASE("Constant nodes are constants", "[compiler][frontend]") {
    OnnxModel model;
    model.input("x", {1, 2}).output("y");
    auto& node = model.node("Constant", {}, {"w"});
    auto& tensor = *tests::attribute(node, "value", ::onnx::AttributeProto::TENSOR).mutable_t();
    tensor.set_data_type(TensorProto::FLOAT);
    for (const std::int64_t extent : {2, 1}) tensor.add_dims(extent);
    for (const float value : {1.0F, -1.0F}) tensor.add_float_data(value);
    model.node("MatMul", {"x", "w"}, {"y"});
    CHECK(run_floats(model.read(), {7, 3}) == std::vector<float>{4});
}

TEST_CASE("The batch of an ONNX model is one inference", "[compiler][frontend]") {
    OnnxModel model;
    model.input("x", {-1, 2}).floats("w", {2, 2}, {1, 2, 3, 4}).output("y");
    model.node("MatMul", {"x", "w"}, {"y"});
    CHECK(model.read().input().shape == ir::Shape{1, 2});
}

TEST_CASE("Open sizes of an ONNX model's inputs are given", "[compiler][frontend]") {
    OnnxModel model;
    model.input("x", {-1, -1, 2}).floats("w", {2, 2}, {1, 2, 3, 4}).output("y");
    model.node("MatMul", {"x", "w"}, {"y"});
    const auto read = [&](const frontend::NamedShapes& given) {
        return frontend::build_onnx_graph(model.bytes(), {}, operators::registry(), {.given = given});
    };
    CHECK(read({{"x", {1, 3, 2}}}).output().shape == ir::Shape{1, 3, 2});
    CHECK(onnx_message([&] { read({}); }) ==
          "input \"x\": its dimension 1 is nameless, without a size; the input's shape must be given with "
          "--input-shape");
    CHECK(read({{"", {1, 3, 2}}}).output().shape == ir::Shape{1, 3, 2});
    CHECK(onnx_message([&] {
              read({{"x", {1, 3, 4}}});
          }) == "input \"x\": its dimension 2 is given as 4; in the file it is 2");
    CHECK(onnx_message([&] {
              read({{"x", {1, 3}}});
          }) == "input \"x\": its shape is given as 1x3; in the file it has 3 dimensions");
    CHECK(onnx_message([&] {
              read({{"x", {1, 3, 2}}, {"z", {1}}});
          }) == "the shape of \"z\" is given, but it has no input of this name");
    CHECK(onnx_message([&] {
              read({{"", {1, 3, 2}}, {"x", {1, 3, 2}}});
          }) == "the shape of its only input is given twice, with its name and without");
    CHECK(onnx_message([&] {
              read({{"w", {2, 2}}});
          }) == "the shape of \"w\" is given, but it has no input of this name");
    model.input("second", {2, 2}).output("other");
    model.node("Relu", {"second"}, {"other"});
    CHECK(onnx_message([&] {
              read({{"", {1, 3, 2}}});
          }) ==
          "the shape of its only input is given, but it has 2 inputs; the shape needs the name of one, as in "
          "--input-shape x=...");
}

TEST_CASE("A Constant of an ONNX model has its numbers in any of the attributes", "[compiler][frontend]") {
    using ::onnx::AttributeProto;
    const auto added = [](const std::function<void(::onnx::NodeProto&)>& set) {
        OnnxModel model;
        model.input("x", {1, 2}).output("y");
        set(model.node("Constant", {}, {"c"}));
        model.node("Add", {"x", "c"}, {"y"});
        return run_floats(model.read(), {10, 20});
    };
    CHECK(added([](auto& node) { tests::attribute(node, "value_float", AttributeProto::FLOAT).set_f(3); }) ==
          std::vector<float>{13, 23});
    CHECK(added([](auto& node) {
              auto& numbers = tests::attribute(node, "value_floats", AttributeProto::FLOATS);
              numbers.add_floats(3);
              numbers.add_floats(5);
          }) == std::vector<float>{13, 25});
    // Integers are extents: of one number, or of each axis.
    const auto reshaped = [](const std::function<void(::onnx::NodeProto&)>& set) {
        OnnxModel model;
        model.input("x", {1, 6}).output("y");
        set(model.node("Constant", {}, {"c"}));
        model.node("Reshape", {"x", "c"}, {"y"});
        return to_text(model.read().values[model.read().outputs.front()].shape);
    };
    CHECK(reshaped([](auto& node) {
              auto& numbers = tests::attribute(node, "value_ints", AttributeProto::INTS);
              for (const int extent : {1, 3, 2}) numbers.add_ints(extent);
          }) == "1x3x2");
    const auto gathered = [](std::int64_t index) {
        OnnxModel model;
        model.input("x", {1, 3}).output("y");
        tests::attribute(model.node("Constant", {}, {"c"}), "value_int", AttributeProto::INT).set_i(index);
        with_attribute(model.node("Gather", {"x", "c"}, {"y"}), "axis", std::int64_t{1});
        return run_floats(model.read(), {7, 8, 9});
    };
    CHECK(gathered(0) == std::vector<float>{7});
    CHECK(gathered(2) == std::vector<float>{9});
}

TEST_CASE("Messages about ONNX models name node, operator and attribute", "[compiler][frontend]") {
    SECTION("a text that is not ASCII") {
        OnnxModel model = row_product();
        with_attribute(*model.graph().mutable_node(0), "mode",
                       "gr\xc3\xb6\xc3\x9f"
                       "er");
        check_onnx_message(model, {"n_y", "MatMul", "mode", "it must be ASCII"});
    }
    SECTION("a node without a name is called like its first result that has one") {
        OnnxModel model = row_product();
        model.graph().mutable_node(0)->clear_name();
        model.graph().mutable_node(0)->set_op_type("Einstein");
        check_onnx_message(model, {"node \"y\" (\"Einstein\")"});
        model.graph().mutable_node(0)->set_output(0, "");
        model.graph().mutable_node(0)->add_output("second");
        check_onnx_message(model, {"node \"second\" (\"Einstein\")"});
    }
    SECTION("an operator that nobody knows") {
        OnnxModel model = row_product();
        model.graph().mutable_node(0)->set_op_type("Einstein");
        check_onnx_message(model, {"n_y", "\"Einstein\"", "not supported"});
    }
    SECTION("another domain") {
        OnnxModel model = row_product();
        model.graph().mutable_node(0)->set_domain("com.example");
        check_onnx_message(model, {"n_y", "this operator of the domain \"com.example\" is not supported"});
        model.graph().mutable_node(0)->set_op_type("Constant");
        check_onnx_message(model, {"n_y", "this operator of the domain \"com.example\" is not supported"});
    }
    SECTION("an operator that another domain does not have") {
        OnnxModel model = row_product();
        model.import_set("com.microsoft", 1);
        model.graph().mutable_node(0)->set_domain("com.microsoft");
        model.graph().mutable_node(0)->set_op_type("Einstein");
        check_onnx_message(model, {"n_y", "this operator of the domain \"com.microsoft\" is not supported"});
    }
    SECTION("an attribute of a newer operator set") {
        OnnxModel model = row_product();
        model.proto().mutable_opset_import(0)->set_version(21);
        with_attribute(*model.graph().mutable_node(0), "block_size", std::int64_t{2});
        check_onnx_message(model, {"n_y", "MatMul", "block_size", "operator set 21"});
    }
    SECTION("a value of an attribute") {
        OnnxModel model;
        model.input("x", {1, 1, 4, 4}).floats("w", {1, 1, 2, 2}, {1, 2, 3, 4}).output("y");
        with_attribute(model.node("Conv", {"x", "w"}, {"y"}), "strides", {0, 1});
        check_onnx_message(model, {"n_y", "Conv", "strides"});
    }
    SECTION("the type of a constant, in each of its roles") {
        const std::vector<std::string> roles{"scale", "bias", "mean", "variance"};
        for (std::size_t wrong = 0; wrong < roles.size(); ++wrong) {
            OnnxModel model;
            model.input("x", {1, 2, 1, 2}).output("y");
            for (std::size_t i = 0; i < roles.size(); ++i) {
                if (i == wrong) {
                    model.raw<std::int32_t>(roles[i], TensorProto::INT32, {2}, {1, 2});
                } else {
                    model.floats(roles[i], {2}, {1, 2});
                }
            }
            model.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"});
            check_onnx_message(model, {"n_y", "its " + roles[wrong] + " is int32; it must be float32"});
        }
    }
    SECTION("weights with fewer axes than the image") {
        for (const char* const op : {"Conv", "ConvTranspose"}) {
            OnnxModel model;
            model.input("x", {1, 1, 4, 4}).floats("w", {1, 1, 2}, {1, 2}).output("y");
            model.node(op, {"x", "w"}, {"y"});
            check_onnx_message(model, {"n_y", op, "its weights are 1x1x2; they must have 4 extents"});
        }
    }
    SECTION("a graph inside a node") {
        OnnxModel model = row_product();
        tests::attribute(*model.graph().mutable_node(0), "then_branch", ::onnx::AttributeProto::GRAPH);
        check_onnx_message(model, {"n_y", "then_branch", "graph"});
    }
    SECTION("an old operator set") {
        // Add had attributes before set 7.
        OnnxModel model;
        model.input("x", {1, 2}).output("y");
        model.node("Add", {"x", "x"}, {"y"});
        model.proto().mutable_opset_import(0)->set_version(6);
        check_onnx_message(model, {"n_y", "Add", "of operator set 6 is not supported; before set 7"});
    }
    SECTION("an open dimension") {
        OnnxModel model;
        model.input("x", {1, -1}).floats("w", {2, 2}, {1, 2, 3, 4}).output("y");
        model.node("MatMul", {"x", "w"}, {"y"});
        check_onnx_message(model, {"input \"x\"", "dimension 1"});
    }
    SECTION("weights that the network computes") {
        OnnxModel model;
        model.input("x", {1, 1, 4, 4}).input("w", {1, 1, 2, 2}).output("y");
        model.node("Conv", {"x", "w"}, {"y"});
        check_onnx_message(model, {"n_y", "Conv", "weights", "constant"});
    }
}

TEST_CASE("Each operator of another domain that is listed is read", "[compiler][frontend]") {
    std::size_t others = 0;
    for (const std::string& name : operators::registry().layer_names(ir::Format::Onnx)) {
        const std::size_t dot = name.rfind('.');
        if (dot == std::string::npos) continue;
        CAPTURE(name);
        OnnxModel model = row_product();
        model.import_set(name.substr(0, dot), 1);
        model.graph().mutable_node(0)->set_domain(name.substr(0, dot));
        model.graph().mutable_node(0)->set_op_type(name.substr(dot + 1));
        // Its inputs are none that it takes; but it is known.
        CHECK_THAT(onnx_message([&] { static_cast<void>(model.read()); }),
                   Catch::Contains("n_y") && !Catch::Contains("is not supported"));
        ++others;
    }
    CHECK(others > 0);

    OnnxModel model;
    model.input("x", {1, 2}, TensorProto::UINT8).output("y");
    model.floats("s", {}, {0.5F}).floats("t", {}, {0.25F});
    model.raw<std::uint8_t>("z", TensorProto::UINT8, {}, {0});
    model.raw<std::uint8_t>("c", TensorProto::UINT8, {1, 2}, {10, 20});
    model.import_set("com.microsoft", 1);
    model.node("QLinearAdd", {"x", "s", "z", "c", "t", "z", "s", "z"}, {"y"}).set_domain("com.microsoft");
    const ir::Graph graph = model.read();
    const std::vector<std::uint8_t> input{1, 2};
    const std::span<const std::uint8_t> bytes(input);
    // 0.5 x 1 + 0.25 x 10 is 6 x 0.5.
    CHECK(reference::run(graph, {&bytes, 1}, 1).front() == std::vector<std::uint8_t>{6, 12});
}

TEST_CASE("Broken ONNX models are refused", "[compiler][frontend]") {
    SECTION("a cycle") {
        OnnxModel model;
        model.input("x", {1, 2}).floats("w", {2, 2}, {1, 2, 3, 4}).output("z");
        model.node("MatMul", {"z", "w"}, {"y"});
        model.node("MatMul", {"y", "w"}, {"z"});
        check_onnx_message(model, {"n_y", "depend on its own"});
    }
    SECTION("a tensor that nothing makes") {
        OnnxModel model = row_product();
        model.graph().mutable_node(0)->set_input(1, "v");
        check_onnx_message(model, {"n_y", "\"v\"", "nothing makes"});
    }
    SECTION("an output that nothing makes") {
        OnnxModel model = row_product();
        model.output("v");
        check_onnx_message(model, {"output \"v\"", "nothing makes"});
    }
    SECTION("two tensors of one name") {
        OnnxModel model = row_product();
        model.node("MatMul", {"x", "w"}, {"y"});
        check_onnx_message(model, {"\"y\"", "name of its own"});
    }
    SECTION("a shape that overflows") {
        OnnxModel model = row_product();
        auto& tensor = *model.graph().mutable_initializer(0);
        for (int i = 0; i < 2; ++i) tensor.set_dims(i, std::numeric_limits<std::uint32_t>::max());
        check_onnx_message(model, {"tensor \"w\"", "at most"});
    }
    SECTION("a negative dimension") {
        OnnxModel model = row_product();
        model.graph().mutable_initializer(0)->set_dims(0, -2);
        check_onnx_message(model, {"tensor \"w\"", "-2"});
    }
    SECTION("fewer elements than the shape has") {
        OnnxModel model = row_product();
        model.graph().mutable_initializer(0)->mutable_float_data()->RemoveLast();
        check_onnx_message(model, {"tensor \"w\"", "3 elements"});
    }
    SECTION("raw data of another size") {
        OnnxModel model = row_product();
        model.graph().mutable_initializer(0)->set_raw_data("abc");
        check_onnx_message(model, {"tensor \"w\"", "3 bytes"});
    }
    SECTION("an integer beyond 32 bits") {
        OnnxModel model = row_product();
        model.raw("i", TensorProto::INT64, {1}, std::vector<std::int64_t>{std::int64_t{1} << 40});
        check_onnx_message(model, {"tensor \"i\"", "1099511627776"});
    }
    SECTION("text") {
        OnnxModel model = row_product();
        model.tensor("s", TensorProto::STRING, {1});
        check_onnx_message(model, {"tensor \"s\"", "STRING"});
    }
    SECTION("no graph") {
        ::onnx::ModelProto empty;
        empty.set_ir_version(7);
        empty.add_opset_import()->set_version(13);
        CHECK(onnx_message([&] {
                  frontend::build_onnx_graph(empty.SerializeAsString(), {}, operators::registry());
              }) == "it has no graph");
    }
}

TEST_CASE("Tensors of ONNX models lie in the model's folder alone", "[compiler][frontend]") {
    const tests::Folder outside;
    outside.file("w.bin", std::string(16, 'x'));
    const tests::Folder folder;
    folder.file("short.bin", std::string(15, 'x'));
    std::filesystem::create_symlink(outside / "w.bin", folder / "link.bin");
    std::filesystem::create_directory_symlink(outside.path(), folder / "way");
    const auto message = [&](const std::string& location, const std::string& offset = "0") {
        OnnxModel model = row_product();
        auto& tensor = *model.graph().mutable_initializer(0);
        tensor.clear_float_data();
        tensor.set_data_location(TensorProto::EXTERNAL);
        for (const auto& [key, value] : {std::pair{std::string("location"), location}, {"offset", offset}}) {
            auto& entry = *tensor.add_external_data();
            entry.set_key(key);
            entry.set_value(value);
        }
        const std::string path = folder.file("m.onnx", model.bytes());
        return onnx_message([&] { frontend::read_network(path); });
    };
    const std::vector<std::string> wrong{(outside / "w.bin").string(),
                                         "../" + outside.path().filename().string() + "/w.bin",
                                         "link.bin",
                                         "way/w.bin",
                                         "",
                                         "short.bin/../x"};
    for (const std::string& location : wrong) {
        INFO(location);
        CHECK(message(location).find("tensor \"w\": its data lie in") != std::string::npos);
    }
    CHECK(message("none.bin").find("no such file") != std::string::npos);
    CHECK(message("short.bin").find("it has 15 bytes; 16 are needed from byte 0") != std::string::npos);
    CHECK(message("short.bin", "18446744073709551615").find("are needed from byte") != std::string::npos);
    CHECK(message("short.bin", "-1").find("offset") != std::string::npos);
    CHECK(message(".").find("its data lie in") != std::string::npos);
}
