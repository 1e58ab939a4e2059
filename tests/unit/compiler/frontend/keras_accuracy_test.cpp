#include <catch2/catch.hpp>
#include <filesystem>

#include "compiler/frontend/door/read_network.h"
#include "compiler/reference/executor.h"
#include "tests/support/mnist.h"

using namespace systole;

TEST_CASE("Networks made by other people reach their known accuracy in float", "[compiler][frontend]") {
    struct Known {
        std::string file;
        double accuracy;  ///< on all 10,000 test images, computed elsewhere
    };
    const Known known = GENERATE(values<Known>({{"keras/keras_2.2.4-tf.h5", 0.9840},
                                                {"keras/keras_2.14.0.h5", 0.9905},
                                                {"keras/keras_3.14.0.keras", 0.9918}}));
    const auto mnist = tests::read_mnist();
    const std::string path = tests::shared_data(known.file);
    if (!mnist || !std::filesystem::exists(path)) {
        WARN("SKIPPED: " << path << " or MNIST is not there");
        return;
    }
    const ir::Graph graph = frontend::read_network(path);
    const std::vector<float> outputs = reference::execute(graph, mnist->floats(mnist->count), mnist->count);
    constexpr double half_an_image = 0.00005;
    CHECK(mnist->accuracy(outputs) == Approx(known.accuracy).margin(half_an_image));
}
