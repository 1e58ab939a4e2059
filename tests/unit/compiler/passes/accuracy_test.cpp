#include <catch2/catch.hpp>
#include <filesystem>

#include "compiler/frontend/door/read_network.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "tests/support/mnist.h"
#include "tests/support/source_dir.h"

using namespace systole;

TEST_CASE("Quantization costs at most 0.3 points of accuracy", "[compiler][passes]") {
    const std::string name =
        GENERATE("keras_2.2.4-tf.h5", "keras_2.14.0.h5", "keras_3.14.0.keras", "mnist_cnn.h5");
    const std::string path = name == "mnist_cnn.h5"
                                 ? std::string(tests::source_dir()) + "/models/mnist_cnn/mnist_cnn.h5"
                                 : tests::shared_data("keras/" + name);
    auto mnist = tests::read_mnist();
    if (!mnist || !std::filesystem::exists(path)) {
        WARN("SKIPPED: " << path << " or MNIST is not there");
        return;
    }
    // Plain loops execute the integers: a part of the images keeps this short.
    constexpr std::uint32_t tested = 2000;
    constexpr std::uint32_t calibrated = 128;
    mnist->count = tested;
    mnist->images.resize(std::size_t{tested} * tests::Mnist::pixels);
    const ir::Graph graph = frontend::read_network(path);
    const ir::Graph quantized = passes::prepare(graph, {.inputs = mnist->floats(calibrated),
                                                        .count = calibrated,
                                                        .encoding = passes::InputEncoding{1.0 / 255, 0}});
    const double in_float = mnist->accuracy(reference::execute(graph, mnist->floats(tested), tested));
    const double in_integers = mnist->accuracy(reference::execute(quantized, mnist->images, tested));
    INFO(name << ": " << in_float << " in float, " << in_integers << " in integers");
    constexpr double allowed = 0.003;
    CHECK(in_integers >= in_float - allowed);
    CHECK(in_float > 0.97);
}
