#include "sim/study/train/examples.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "hw/math/floats/word_values.h"
#include "sim/run/input/formats.h"
#include "tests/support/files.h"
#include "tests/system/input_files.h"

using namespace systole;
using run::InputTensor;
using train::Examples;

namespace {

using Words = std::vector<std::uint32_t>;

InputTensor tensor(std::vector<std::uint32_t> shape, DataType type = DataType::Float32) {
    return {.name = "x", .shape = std::move(shape), .type = type};
}

run::Content content(const std::string& path) {
    return {.name = path, .hash = "", .path = {path}};
}

std::vector<run::InputFile> files(const std::string& path) {
    return {{.input = "", .content = content(path)}};
}

std::string idx_labels(const std::string& labels) {
    return std::string("\0\0\x08\x01\0\0\0", 7) + static_cast<char>(labels.size()) + labels;
}

/// Why labels are refused, without the folder.
std::string label_error(const std::string& labels, const InputTensor& input) {
    const tests::Folder folder;
    const std::string file = folder.file("labels", idx_labels(labels));
    try {
        train::read_labels(content(file), input);
    } catch (const input::InputError& error) {
        const std::string message = error.what();
        return message.starts_with(file) ? message.substr(file.size()) : message;
    }
    return "no error";
}

std::uint32_t word(float number) {
    return std::bit_cast<std::uint32_t>(number);
}

}  // namespace

TEST_CASE("Pixels become the numbers of an input of floats, of which each example is one", "[train]") {
    const tests::Folder folder;
    std::string file("\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\3", 16);
    file += std::string("\x00\x33\xff\x66\x00\x01", 6);
    const std::string path = folder.file("images", file);
    const Examples examples = train::read_examples(files(path), tensor({8, 3}), {}, "model");
    CHECK(examples.place == path);
    CHECK(examples.count == 2);
    CHECK(examples.each() == 3);
    CHECK(examples.words == Words{word(0.0F), word(0.2F), word(1.0F), word(0.4F), word(0.0F),
                                  word(static_cast<float>(1.0 / 255.0))});
    // The batch of the program does not matter, and the preparation says what pixels are.
    run::Preparation preparation;
    preparation.is_given = true;
    preparation.scale = 1.0;
    CHECK(train::read_examples(files(path), tensor({1, 3}), preparation, "model").words ==
          Words{word(0.0F), word(51.0F), word(255.0F), word(102.0F), word(0.0F), word(1.0F)});
}

TEST_CASE("Arrays are examples of any format", "[train]") {
    const tests::Folder folder;
    const std::string floats = folder.file("f.npy", tests::npy("<f4", "(3, 2)", tests::repeated(0.25F, 6)));
    CHECK(train::read_examples(files(floats), tensor({4, 2}), {}, "model").words == Words(6, word(0.25F)));
    const std::string whole =
        folder.file("i.npy", tests::npy("|i1", "(3, 2)", std::string("\1\xff\2\xfe\3\xfd", 6)));
    const Examples examples =
        train::read_examples(files(whole), tensor({4, 2}, DataType::Int32), {}, "model");
    CHECK(examples.count == 3);
    CHECK(examples.words == Words{1, 0xffffffff, 2, 0xfffffffe, 3, 0xfffffffd});
    CHECK_THROWS_AS(train::read_examples(files(whole), tensor({4, 3}, DataType::Int32), {}, "model"),
                    input::InputError);
    CHECK_THROWS_AS(train::read_examples(files(whole), tensor({4, 2}, DataType::Uint8), {}, "model"),
                    input::InputError);
    CHECK_THROWS_WITH(train::read_examples(files(whole), tensor({}, DataType::Int32), {}, "model"),
                      "input \"x\" is one number; examples have an axis");
}

TEST_CASE("Labels are whole numbers, or 1 for their class", "[train]") {
    const tests::Folder folder;
    const std::string path = folder.file("labels", idx_labels(std::string("\2\0\1", 3)));
    const auto read = [&](const InputTensor& input) { return train::read_labels(content(path), input); };
    const Examples whole = read(tensor({8}, DataType::Int32));
    CHECK(whole.place == path);
    CHECK(whole.count == 3);
    CHECK(whole.each() == 1);
    CHECK(whole.words == Words{2, 0, 1});
    CHECK(read(tensor({8}, DataType::Uint8)).words == Words{2, 0, 1});
    CHECK(read(tensor({8})).words == Words{word(2.0F), 0, word(1.0F)});
    const Examples by_class = read(tensor({8, 3}));
    CHECK(by_class.count == 3);
    CHECK(by_class.each() == 3);
    const std::uint32_t one = word(1.0F);
    CHECK(by_class.words == Words{0, 0, one, one, 0, 0, 0, one, 0});
    CHECK(read(tensor({8, 3}, DataType::Bool)).words == Words{0, 0, 1, 1, 0, 0, 0, 1, 0});
}

TEST_CASE("A label that is no class, or that its input does not hold, is refused with its place", "[train]") {
    const std::string labels("\0\1\xc8", 3);
    CHECK(label_error(labels, tensor({8, 3})) == ": label 2 is 200; input \"x\" has 3 classes, 0 to 2");
    CHECK(label_error(labels, tensor({8, 201})) == "no error");
    CHECK(label_error(labels, tensor({8, 200})) == ": label 2 is 200; input \"x\" has 200 classes, 0 to 199");
    CHECK(label_error(labels, tensor({8}, DataType::Int8)) ==
          ": label 2 is 200; input \"x\" takes int8, whose numbers are whole, from -128 to 127");
    CHECK(label_error(labels, tensor({8}, DataType::Uint8)) == "no error");
    CHECK(label_error(labels, tensor({8}, DataType::Bool)) ==
          ": label 2 is 200; input \"x\" takes bool, whose numbers are whole, from 0 to 1");
    CHECK(label_error(labels, tensor({8, 3, 4})) ==
          ": input \"x\" takes (3, 4) an example; labels are for one number or classes");
    CHECK(label_error(labels, tensor({})) == "input \"x\" is one number; examples have an axis");
}

TEST_CASE("Made-up examples are floats from -1 to 1 or small whole numbers, the same from a seed",
          "[train]") {
    const Examples floats = train::random_examples(tensor({8, 50}), 20, 3);
    CHECK(floats.count == 20);
    CHECK(floats.words.size() == 20 * 50);
    float least = 0.0F;
    float most = 0.0F;
    for (const std::uint32_t each : floats.words) {
        least = std::min(least, std::bit_cast<float>(each));
        most = std::max(most, std::bit_cast<float>(each));
    }
    CHECK((least >= -1.0F && least < -0.9F));
    CHECK((most <= 1.0F && most > 0.9F));
    CHECK(train::random_examples(tensor({8, 50}), 20, 3).words == floats.words);
    CHECK(train::random_examples(tensor({8, 50}), 20, 4).words != floats.words);
    const Examples whole = train::random_examples(tensor({8}, DataType::Int32), 200, 3);
    CHECK(std::set<std::uint32_t>(whole.words.begin(), whole.words.end()) ==
          std::set<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("A batch has the chosen examples in their order, in the input's format", "[train]") {
    const Examples examples{.place = "", .count = 4, .words = {1, 2, 3, 4, 5, 6, 7, 8}};
    const auto batch = [&](const std::vector<std::uint32_t>& chosen, const InputTensor& input) {
        return train::batch_of(examples, chosen, input);
    };
    const run::OutputArray array = batch({3, 0, 3}, tensor({3, 2}, DataType::Int16));
    CHECK(array.name == "x");
    CHECK(array.type == DataType::Int16);
    CHECK(array.shape == std::vector<std::uint64_t>{3, 2});
    CHECK(array.stored == std::vector<std::uint8_t>{7, 0, 8, 0, 1, 0, 2, 0, 7, 0, 8, 0});
    // Several batches begin with an axis of them.
    CHECK(batch({3, 0, 1, 2}, tensor({2, 2}, DataType::Uint8)).shape == std::vector<std::uint64_t>{2, 2, 2});
    // Each replica has its part of a whole array.
    InputTensor split = tensor({1, 2}, DataType::Uint8);
    split.replicas = 2;
    split.split_axis = 0;
    const run::OutputArray whole = batch({3, 0}, split);
    CHECK(whole.shape == std::vector<std::uint64_t>{2, 2});
    CHECK(whole.stored == std::vector<std::uint8_t>{7, 8, 1, 2});
}

TEST_CASE("The order of an epoch has each example once, another one in each epoch, the same from a seed",
          "[train]") {
    for (const std::uint64_t count : {0U, 1U, 2U, 7U, 1000U}) {
        std::vector<std::uint32_t> order = train::order_of_epoch(count, 1, 0);
        std::ranges::sort(order);
        std::vector<std::uint32_t> all(count);
        std::iota(all.begin(), all.end(), 0U);
        CHECK(order == all);
    }
    const std::vector<std::uint32_t> order = train::order_of_epoch(1000, 1, 0);
    CHECK(train::order_of_epoch(1000, 1, 0) == order);
    CHECK(train::order_of_epoch(1000, 1, 1) != order);
    CHECK(train::order_of_epoch(1000, 2, 0) != order);
    CHECK_FALSE(std::ranges::is_sorted(order));
}

TEST_CASE("In the order of an epoch, each example is as likely at each place", "[train]") {
    constexpr std::uint64_t count = 4;
    constexpr int epochs = 4000;
    std::vector<int> often(count * count);
    for (int epoch = 0; epoch < epochs; ++epoch) {
        const std::vector<std::uint32_t> order =
            train::order_of_epoch(count, 1, static_cast<std::uint64_t>(epoch));
        for (std::size_t place = 0; place < count; ++place) ++often[order[place] * count + place];
    }
    // Five deviations of the binomial distribution: sqrt(4000 / 4 * 3 / 4) = 27.
    for (const int each : often) CHECK(std::abs(each - epochs / 4) < 5 * 28);
}
