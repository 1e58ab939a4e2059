#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "tests/support/network_builder.h"

namespace systole::tpu_v1 {
namespace {

/// Over a 4 x 4 x 2 input.
class Builder : public tests::NetworkBuilder {
public:
    Builder() : NetworkBuilder({4, 4, 2}) {}
};

Target target() {
    return {.geometry = {.rows = 8, .columns = 4},
            .accumulator_rows = 64,
            .unified_buffer_rows = 4000,
            .weight_memory_bytes = 1 << 20};
}

/// The inputs that are copied, by layer.
std::vector<std::pair<std::uint32_t, std::uint32_t>> copies(const Network& network) {
    const Schedule schedule = make_schedule(network, target(), {.batch = 1, .inferences = 1});
    std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
    for (const Operation& operation : schedule.operations) {
        if (const auto* copy = std::get_if<CopyLines>(&operation))
            result.emplace_back(copy->layer, copy->input);
    }
    return result;
}

using Copies = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

}  // namespace

TEST_CASE("A tensor that only a concatenation reads lies in its result", "[compiler][schedule][concat]") {
    Builder builder;
    const TensorId a = builder.convolution(0, 3);
    const TensorId b = builder.pool(0);
    const TensorId inner = builder.concat({a, b});
    const TensorId c = builder.convolution(0, 7);
    const TensorId outer = builder.concat({c, inner});
    const std::vector<TensorPart> parts = analyse(builder.network(), target()).parts;
    CHECK(parts[0] == TensorPart{0, 0});
    CHECK(parts[a] == TensorPart{outer, 7});
    CHECK(parts[b] == TensorPart{outer, 10});
    CHECK(parts[inner] == TensorPart{outer, 7});
    CHECK(parts[c] == TensorPart{outer, 0});
    CHECK(parts[outer] == TensorPart{outer, 0});
    CHECK(copies(builder.network()).empty());
}

TEST_CASE("A tensor with other readers, or written in whole rows, is copied into the concatenation",
          "[compiler][schedule][concat]") {
    Builder builder;
    const TensorId twice = builder.convolution(0, 3);
    const TensorId rows = builder.lookup(0);
    const TensorId alone = builder.pool(0);
    const TensorId whole = builder.concat({0, twice, alone, rows, twice});  // layer 3
    const TensorId read = builder.pool(0);
    const TensorId other = builder.pool(read);
    builder.concat({whole, read, other});  // layer 6
    builder.concat({other, whole});        // layer 7
    CHECK(copies(builder.network()) ==
          Copies{{3, 0}, {3, 1}, {3, 3}, {3, 4}, {6, 0}, {6, 1}, {6, 2}, {7, 0}, {7, 1}});
    CHECK(analyse(builder.network(), target()).parts[alone] == TensorPart{whole, 5});
}

TEST_CASE("The network's output stays by itself where it is concatenated, too",
          "[compiler][schedule][concat]") {
    Builder builder;
    const TensorId a = builder.convolution(0, 3);
    builder.concat({a, builder.pool(0)});
    builder.network().outputs = {a};
    CHECK(copies(builder.network()) == Copies{{2, 0}});
}

TEST_CASE("A concatenated tensor lives from its first part on and counts once",
          "[compiler][schedule][concat]") {
    Builder builder;
    const TensorId a = builder.convolution(0, 5);        // step 1
    const TensorId between = builder.convolution(0, 4);  // saves no column tile of 4 beside the other
    const TensorId b = builder.pool(between);
    const TensorId whole = builder.concat({a, b});  // step 4
    builder.convolution(whole, 1);
    const std::vector<schedule::Lifetime> lifetimes =
        tensor_lifetimes(analyse(builder.network(), target()), target(), false);
    CHECK(lifetimes[whole] == schedule::Lifetime{.rows = 4 * 4 * 9 / 8, .first_step = 1, .last_step = 5});
    CHECK(lifetimes[a].rows == 0);
    CHECK(lifetimes[b].rows == 0);
    CHECK(lifetimes[between] == schedule::Lifetime{.rows = 8, .first_step = 2, .last_step = 3});
}

TEST_CASE("The text of a schedule shows which tensors lie in others and which are copied",
          "[compiler][schedule][concat]") {
    Builder builder;
    const TensorId a = builder.pool(0);
    builder.concat({0, a});
    CHECK(to_text(make_schedule(builder.network(), target(), {.batch = 1, .inferences = 1})) ==
          R"(network "made": 1 inferences in batches of 1
array 8 x 4, 64 accumulator rows, 4000 unified-buffer rows, 1048576 bytes of weight memory
batch slices of at most 1 images, transfers in turn
0 weight tiles, 12 unified-buffer rows in use, 0 of them constants
tensor "t0" from row 8, 4 rows an image
tensor "t1" in "t2" from byte 2 of its pixels
tensor "t2" from row 0, 8 rows an image
layer 1 "l1" max_pool, 0 MACs
layer 2 "l2" concat, 0 MACs
read input 0
layer 1 pool 4 lines from image 0 line 0
layer 2 copy input 0, 4 lines from image 0 line 0
write output 0
)");
}

TEST_CASE("A concatenation that contradicts itself is our error, one too large the user's",
          "[compiler][schedule][concat]") {
    const auto error = [](const auto& change) -> std::string {
        Builder builder;
        builder.concat({builder.pool(0), builder.pool(0)});
        change(builder.network());
        try {
            make_schedule(builder.network(), target(), {});
        } catch (const std::logic_error& wrong) {
            return wrong.what();
        } catch (const ModelError& wrong) {
            return wrong.what();
        }
        return "scheduled";
    };
    const std::string place = "quantized network \"made\": layer \"l3\": ";
    CHECK(error([](Network&) {}) == "scheduled");
    CHECK(error([](Network& network) { network.layers[2].inputs.pop_back(); }) ==
          place + "a concatenation must have two inputs or more");
    CHECK(error([](Network& network) { network.layers[2].inputs.push_back(0); }) ==
          place + "the channels of a concatenation must add up");
    CHECK(error([](Network& network) {
              network.tensors[3].shape = {4, 2, 4};
          }) == place + "inputs and output of a concatenation must have one height and width");
    for (const auto& change :
         {+[](Tensor& tensor) { tensor.scale = 2; }, +[](Tensor& tensor) { tensor.zero_point = 2; },
          +[](Tensor& tensor) { tensor.type = DataType::Int8; }}) {
        CHECK(error([&](Network& network) { change(network.tensors[3]); }) ==
              place + "inputs and output of a concatenation must be encoded alike");
    }
    CHECK(error([](Network& network) {
              for (auto& tensor : network.tensors) tensor.shape.height = 65536;
          }) ==
          "made: layer \"l3\": it concatenates to 65536x4x4; height and width may be at most 65535, "
          "channels at most 16777215");
}

}  // namespace systole::tpu_v1
