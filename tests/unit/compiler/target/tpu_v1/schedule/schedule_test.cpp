#include "compiler/target/tpu_v1/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "tests/support/mapping_layers.h"
#include "tests/support/random_network.h"
#include "tests/support/random_runs.h"

namespace systole::tpu_v1 {
namespace {

/// 6 x 6 x 1 image, 3 x 3 convolution with 4 filters, max pooling 2 x 2, dense with 3 outputs.
Network small_cnn() {
    Network network;
    network.name = "small_cnn";
    network.tensors = {{.name = "image", .shape = {6, 6, 1}},
                       {.name = "conv_out", .shape = {4, 4, 4}},
                       {.name = "pool_out", .shape = {2, 2, 4}},
                       {.name = "scores", .shape = {1, 1, 3}}};
    MatrixProduct convolution;
    convolution.window = ir::Window{.kernel_height = 3, .kernel_width = 3};
    convolution.weights = tests::ones(9 * 4);
    convolution.requantization = tests::requantization(4);
    Pooling pool;
    pool.window = {.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2};
    MatrixProduct dense;
    dense.weights = tests::ones(16 * 3);
    dense.requantization = tests::requantization(3);
    network.layers = {{.name = "conv", .inputs = {0}, .output = 1, .work = convolution, .macs = 576},
                      {.name = "pool", .inputs = {1}, .output = 2, .work = pool},
                      {.name = "dense", .inputs = {2}, .output = 3, .work = dense, .macs = 48}};
    network.outputs = {3};
    return network;
}

Target small_target() {
    return {.geometry = {.rows = 8, .columns = 4},
            .accumulator_rows = 40,
            .unified_buffer_rows = 200,
            .weight_memory_bytes = 1 << 20};
}

template <typename Error>
std::string message(const Network& network, const Target& target) {
    try {
        make_schedule(network, target, {});
    } catch (const Error& error) {
        return error.what();
    }
    return "scheduled";
}

}  // namespace

TEST_CASE("A schedule can be read", "[compiler][schedule]") {
    const std::string text =
        to_text(make_schedule(small_cnn(), small_target(), {.batch = 2, .inferences = 3}));
    CHECK(text == R"(network "small_cnn": 3 inferences in batches of 2
array 8 x 4, 40 accumulator rows, 200 unified-buffer rows, 1048576 bytes of weight memory
batch slices of at most 2 images, transfers overlap
4 weight tiles, 41 unified-buffer rows in use, 9 of them constants
tensor "image" from row 25, 5 rows an image
tensor "conv_out" from row 9, 8 rows an image
tensor "pool_out" from row 35, 2 rows an image
tensor "scores" from row 39, 1 rows an image
layer 1 "conv" convolution, 576 MACs
  column tile 0: channels 0..3, parameters in row 0, element tiles 0..1 = tiles 0..1
layer 2 "pool" max_pool, 0 MACs
layer 3 "dense" dense, 48 MACs
  column tile 0: channels 0..2, parameters in row 5, element tiles 0..1 = tiles 2..3
read input 0..1
read constants to rows 0..8
layer 1 convolve 4 lines from image 0 line 0, element tiles 0..1, fetched tiles 0..1, into accumulators from 0
layer 1 activate accumulators 0..15 as column tile 0, image 0 from pixel 0
layer 1 convolve 4 lines from image 1 line 0, element tiles 0..1, fetched tiles 0..1, into accumulators from 20
layer 1 activate accumulators 20..35 as column tile 0, image 1 from pixel 0
read input 2
layer 2 pool 4 lines from image 0 line 0
layer 3 multiply 2 lines from image 0 line 0, element tiles 0..1, fetched tiles 2..3, into accumulators from 0
layer 3 activate accumulators 0..1 as column tile 0, image 0 from pixel 0
write output 0..1
layer 1 convolve 4 lines from image 0 line 0, element tiles 0..1, fetched tiles 0..1, into accumulators from 20
layer 1 activate accumulators 20..35 as column tile 0, image 0 from pixel 0
layer 2 pool 2 lines from image 0 line 0
layer 3 multiply 1 lines from image 0 line 0, element tiles 0..1, fetched tiles 2..3, into accumulators from 0
layer 3 activate accumulators 0 as column tile 0, image 0 from pixel 0
write output 2
)");
}

TEST_CASE("A single tile is fetched once and kept for the other chunks", "[compiler][schedule]") {
    Target target = small_target();
    target.geometry = {.rows = 9, .columns = 4};
    const Schedule schedule = make_schedule(small_cnn(), target, {.batch = 3, .inferences = 3});
    std::vector<bool> kept;
    for (const Operation& operation : schedule.operations) {
        if (const auto* work = std::get_if<ConvolveLines>(&operation)) kept.push_back(work->keep_weights);
    }
    // Three images in quarters of the accumulators, half an image each.
    CHECK(kept == std::vector<bool>{false, true, true, true, true, true});
}

TEST_CASE("A batch that does not fit is cut into the fewest equal slices", "[compiler][schedule]") {
    // Its convolution alone: beside 5 rows of constants, an image needs 5 rows and 8.
    const std::uint32_t rows_of_image = 13;
    Target target = small_target();
    Network network = small_cnn();
    network.layers.resize(1);
    network.outputs = {1};
    const auto images = [&](std::uint32_t rows, std::uint32_t batch) {
        target.unified_buffer_rows = rows;
        return make_schedule(network, target, {.batch = batch, .inferences = 100}).memory.images_per_slice;
    };
    CHECK(images(5 + 10 * rows_of_image, 10) == 10);
    CHECK(images(5 + 10 * rows_of_image - 1, 10) == 5);
    CHECK(images(5 + 4 * rows_of_image, 10) == 4);
    CHECK(images(5 + 3 * rows_of_image, 10) == 3);
    CHECK(images(5 + 2 * rows_of_image, 10) == 2);
    CHECK(images(5 + 1 * rows_of_image, 10) == 1);
}

TEST_CASE("If a batch does not fit, the first layers process it in groups", "[compiler][schedule]") {
    // Of 6 images that go through the dense layer together, 5 rows each hold the input, 2 what was pooled and
    // 1 the result; what the convolution makes, 8 rows an image, is there for a group.
    Target target = small_target();
    const auto schedule = [&](std::uint32_t rows) {
        target.unified_buffer_rows = 9 + rows;
        return make_schedule(small_cnn(), target, {.batch = 6, .inferences = 6});
    };
    CHECK(schedule(6 * (5 + 8)).memory.groups == schedule::SubBatches{});
    const Schedule two = schedule(6 * (5 + 8) - 1);
    CHECK(two.memory.groups == schedule::SubBatches{.layers = 2, .images = 3});
    CHECK(two.memory.images_per_slice == 6);
    CHECK(schedule(6 * (5 + 2) + 3 * 8).memory.groups == schedule::SubBatches{.layers = 2, .images = 3});
    // Three groups would fetch the convolution's two tiles twice again: two slices fetch no more.
    const Schedule slices = schedule(6 * (5 + 2) + 3 * 8 - 1);
    CHECK(slices.memory.groups == schedule::SubBatches{});
    CHECK(slices.memory.images_per_slice == 3);

    std::vector<std::string> work;
    for (const Operation& operation : two.operations) {
        if (const auto* convolve = std::get_if<ConvolveLines>(&operation))
            work.push_back(fmt::format("convolve {}", convolve->chunk.first_image));
        if (const auto* pool = std::get_if<PoolLines>(&operation))
            work.push_back(fmt::format("pool {}", pool->chunk.first_image));
        if (const auto* multiply = std::get_if<MultiplyImages>(&operation))
            work.push_back(fmt::format("multiply {} images", multiply->chunk.lines));
    }
    CHECK(work == std::vector<std::string>{"convolve 0", "convolve 1", "convolve 2", "pool 0", "convolve 3",
                                           "convolve 4", "convolve 5", "pool 3", "multiply 6 images"});
    CHECK_THAT(to_text(two), Catch::Contains("the first 2 layers take groups of at most 3 images\n"));
}

TEST_CASE("Transfers overlap unless rows are missing or there is nothing to overlap",
          "[compiler][schedule]") {
    Target target = small_target();
    const auto overlap = [&](std::uint32_t rows, const mapping::Batches& options) {
        target.unified_buffer_rows = rows;
        return make_schedule(small_cnn(), target, options).memory.overlap_transfers;
    };
    CHECK(overlap(9 + 16, {.batch = 1, .inferences = 2}));
    CHECK_FALSE(overlap(9 + 16 - 1, {.batch = 1, .inferences = 2}));  // one after the other, 13 rows do
    CHECK_FALSE(overlap(9 + 13, {.batch = 1, .inferences = 2}));
    CHECK_FALSE(overlap(200, {.batch = 4, .inferences = 4}));
    CHECK(overlap(200, {.batch = 4, .inferences = 5}));
    CHECK_THROWS_AS(overlap(9 + 13 - 1, {.batch = 1, .inferences = 2}), ModelError);
}

TEST_CASE("Two slices have rows for input and output, in turn, if there are enough", "[compiler][schedule]") {
    Target target = small_target();
    target.mapping.double_buffers = true;
    const auto schedule = [&](std::uint32_t rows, std::uint32_t slice_images) {
        target.unified_buffer_rows = 9 + rows;
        target.choices.slice_images = slice_images;
        return make_schedule(small_cnn(), target, {.batch = 4, .inferences = 4});
    };
    // An image has 5 rows of input, 8 of the convolution, 2 pooled and 1 of scores.
    const Schedule both = schedule(200, 2);
    CHECK(both.memory.images_per_slice == 2);
    CHECK(both.memory.two_inputs);
    CHECK(both.memory.two_outputs);
    std::vector<std::uint32_t> read, written;
    for (const Operation& operation : both.operations) {
        if (const auto* input = std::get_if<ReadInput>(&operation)) read.push_back(input->first_image);
        if (const auto* output = std::get_if<WriteOutput>(&operation)) written.push_back(output->first_image);
    }
    CHECK(read == std::vector<std::uint32_t>{0, 2});
    CHECK(written == std::vector<std::uint32_t>{0, 2});
    // The second input is read before the work on the first slice, not behind it.
    const auto second_read =
        std::find_if(both.operations.begin(), both.operations.end(), [](const auto& each) {
            const auto* input = std::get_if<ReadInput>(&each);
            return input != nullptr && input->first_image == 2;
        });
    const auto first_work =
        std::find_if(both.operations.begin(), both.operations.end(),
                     [](const auto& each) { return std::holds_alternative<ConvolveLines>(each); });
    CHECK(second_read < first_work);

    const Schedule output_only = schedule(2 * 16 + 2 * 1, 2);
    CHECK_FALSE(output_only.memory.two_inputs);
    CHECK(output_only.memory.two_outputs);
    CHECK_FALSE(schedule(2 * 16, 2).memory.two_outputs);
    // One slice needs no second place.
    CHECK_FALSE(schedule(200, 0).memory.two_inputs);
}

TEST_CASE("A sum lies in an operand that no later layer reads", "[compiler][schedule]") {
    // An image of 1 row, a dense layer of 2 rows, two lookups of it, the sum of both and a dense layer.
    Network network;
    network.name = "sum";
    network.tensors = {{.name = "image", .shape = {1, 1, 8}}, {.name = "wide", .shape = {1, 1, 16}},
                       {.name = "a", .shape = {1, 1, 16}},    {.name = "b", .shape = {1, 1, 16}},
                       {.name = "sum", .shape = {1, 1, 16}},  {.name = "scores", .shape = {1, 1, 3}}};
    const auto dense = [](std::uint32_t inputs, std::uint32_t outputs) {
        MatrixProduct product;
        product.weights = tests::ones(inputs * outputs);
        product.requantization = tests::requantization(outputs);
        return product;
    };
    Elementwise lookup;
    lookup.operation = isa::VectorOperation::Lookup;
    lookup.table = std::array<std::uint8_t, 256>{};
    network.layers = {{.name = "wide", .inputs = {0}, .output = 1, .work = dense(8, 16), .macs = 128},
                      {.name = "a", .inputs = {1}, .output = 2, .work = lookup},
                      {.name = "b", .inputs = {1}, .output = 3, .work = lookup},
                      {.name = "sum", .inputs = {2, 3}, .output = 4, .work = Elementwise{}},
                      {.name = "dense", .inputs = {4}, .output = 5, .work = dense(16, 3), .macs = 48}};
    network.outputs = {5};
    Target target = small_target();
    const MemoryPlan apart = make_schedule(network, target, {}).memory;
    target.mapping.in_place = true;
    const MemoryPlan memory = make_schedule(network, target, {}).memory;
    const auto row = [&](std::size_t tensor) { return memory.tensors[tensor].row; };
    CHECK(row(2) != row(1));  // the other lookup still reads what the first one reads
    CHECK(row(3) == row(1));
    CHECK(row(4) == row(2));
    CHECK(memory.tensors[4].image_rows == 2);
    CHECK(memory.rows + 2 == apart.rows);
    CHECK(memory.rows == memory.least_rows);
}

TEST_CASE("Live tensors never share rows", "[compiler][schedule]") {
    const std::uint32_t seed = 123;
    INFO("first seed " << seed);
    for (std::uint32_t run = 0; run < tests::random_runs(200); ++run) {
        std::mt19937 random(seed + run);
        const Network network = tpu_v1::lower(tests::RandomNetwork(random).draw());
        Target target;
        target.geometry = {.rows = static_cast<std::uint32_t>(random() % 40 + 1), .columns = 8};
        const mapping::Batches options{.batch = 3, .inferences = run % 2 == 0 ? 3U : 9U};
        const Schedule schedule = make_schedule(network, target, options);
        const MemoryPlan& memory = schedule.memory;
        const std::vector<schedule::Lifetime> lifetimes =
            tensor_lifetimes(analyse(network, target), target, memory.overlap_transfers);
        INFO("seed " << seed + run);
        for (std::size_t a = 0; a < lifetimes.size(); ++a) {
            const TensorPlacement& first = memory.tensors[a];
            if (lifetimes[a].rows == 0) continue;  // it lies in another
            CHECK(first.row >= schedule.constant_rows);
            const std::uint64_t first_end = first.row + first.images * first.image_rows;
            CHECK(first_end <= memory.rows);
            for (std::size_t b = 0; b < a; ++b) {
                const TensorPlacement& second = memory.tensors[b];
                const std::uint64_t second_end = second.row + second.images * second.image_rows;
                if (lifetimes[b].rows == 0 || !lifetimes[a].overlaps(lifetimes[b])) continue;
                CHECK((first_end <= second.row || second_end <= first.row));
            }
        }
    }
}

TEST_CASE("A tensor lives from the layer that makes it to the last that reads it", "[compiler][schedule]") {
    const Network network = small_cnn();
    const auto steps = [&](bool overlap) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
        for (const schedule::Lifetime& lifetime :
             tensor_lifetimes(analyse(network, small_target()), small_target(), overlap)) {
            result.emplace_back(lifetime.first_step, lifetime.last_step);
        }
        return result;
    };
    using Steps = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    CHECK(steps(false) == Steps{{0, 1}, {1, 2}, {2, 3}, {3, 4}});
    CHECK(steps(true) == Steps{{0, 4}, {1, 2}, {2, 3}, {0, 4}});
}

TEST_CASE("An output line must fit the accumulators", "[compiler][schedule]") {
    Target target = small_target();
    target.accumulator_rows = 4;
    CHECK(message<ModelError>(small_cnn(), target) == "scheduled");
    target.accumulator_rows = 3;
    CHECK(message<ModelError>(small_cnn(), target) ==
          "small_cnn: layer \"conv\": an output line has 4 pixels; it must fit the 3 accumulator rows");
}

TEST_CASE("A pooling window must touch the image", "[compiler][schedule]") {
    Network network = small_cnn();
    auto& pool = std::get<Pooling>(network.layers[1].work);
    pool.window = {.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2, .pad_top = 2};
    network.tensors[2].shape.height = 3;
    auto& dense = std::get<MatrixProduct>(network.layers[2].work);
    dense.weights = tests::ones(24 * 3);
    CHECK(
        message<ModelError>(network, small_target()) ==
        "small_cnn: layer \"pool\": a pooling window lies wholly in the padding; each must touch the image");
    std::get<Pooling>(network.layers[1].work).count_padding = true;
    CHECK(message<ModelError>(network, small_target()) == "scheduled");
}

TEST_CASE("An addition takes one kind of elements", "[compiler][schedule]") {
    Network network;
    network.name = "sum";
    network.tensors = {{.name = "a", .shape = {2, 2, 2}},
                       {.name = "b", .shape = {2, 2, 2}, .type = DataType::Int8},
                       {.name = "sum", .shape = {2, 2, 2}}};
    network.layers = {{.name = "table", .inputs = {0}, .output = 1, .work = tests::lookup()},
                      {.name = "add", .inputs = {0, 1}, .output = 2, .work = tests::addition()}};
    network.outputs = {2};
    CHECK(message<ModelError>(network, small_target()) ==
          "sum: layer \"add\": its inputs are uint8 and int8, its output is uint8; element-wise work has "
          "tensors of one type");
    network.tensors[1].type = DataType::Uint8;
    Target target = small_target();
    CHECK(message<ModelError>(network, target) == "scheduled");
}

TEST_CASE("A network that contradicts itself is our own error", "[compiler][schedule]") {
    const auto broken = [](auto change) {
        Network network = small_cnn();
        change(network);
        return message<std::logic_error>(network, small_target());
    };
    const auto convolution = [](Network& network) -> MatrixProduct& {
        return std::get<MatrixProduct>(network.layers[0].work);
    };
    CHECK(broken([](auto&) {}) == "scheduled");
    CHECK(broken([&](auto& network) { convolution(network).weights = tests::ones(9 * 4 - 1); }) ==
          "quantized network \"small_cnn\": layer \"conv\": the number of weights does not fit its shapes");
    CHECK(broken([&](auto& network) { convolution(network).requantization.bias.pop_back(); }) ==
          "quantized network \"small_cnn\": layer \"conv\": the requantization must have one entry for each "
          "output channel");
    CHECK(broken([&](auto& network) { convolution(network).window->stride_x = 0; }) ==
          "quantized network \"small_cnn\": layer \"conv\": kernel and strides must be at least 1");
    CHECK(broken([&](auto& network) { network.tensors[1].shape.height = 5; }) ==
          "quantized network \"small_cnn\": layer \"conv\": the output's height and width must be the number "
          "of "
          "windows");
    CHECK(broken([&](auto& network) { network.layers[1].inputs = {9}; }) ==
          "quantized network \"small_cnn\": layer \"pool\": its inputs must be tensors of the network");
    CHECK(broken([&](auto& network) { network.outputs = {9}; }) ==
          "quantized network \"small_cnn\": input and output must be tensors with elements");
}

}  // namespace systole::tpu_v1
