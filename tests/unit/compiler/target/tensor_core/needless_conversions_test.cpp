// Conversions that change nothing for those that read them.
#include "compiler/target/tensor_core/needless_conversions.h"

#include <catch2/catch.hpp>
#include <string>

#include "compiler/ir/text.h"
#include "tests/support/text_graphs.h"

namespace systole::tests {
namespace {

std::string without(const std::string& text) {
    return to_text(tensor_core::without_needless_conversions(graph_of_text(text)));
}

const std::string product = "matrix_product(%2, %1) \"p\" {sum_tile 16, precision \"default\"}\n";

TEST_CASE("Products take an input as it was before it was rounded", "[tensor_core]") {
    const std::string values =
        "%0 float32 1x4x4 \"a\"\n%1 float32 1x4x4 \"b\"\n%2 bfloat16 1x4x4 \"r\"\n%3 float32 1x4x4 \"p\"\n";
    const std::string rounding = "%2 = word_chain(%0) \"r\" {steps [\"round_to_bfloat16 0\"]}\n";
    const std::string head = "graph \"g\"\ninputs %0, %1\noutputs %3\n" + values + rounding;
    CHECK(without(head + "%3 = " + product) ==
          "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x4x4 \"a\"\n%1 float32 1x4x4 \"b\"\n"
          "%2 float32 1x4x4 \"p\"\n"
          "%2 = matrix_product(%0, %1) \"p\" {sum_tile 16, precision \"default\"}\n");
    // Three parts of a float32 are more than a bfloat16.
    const std::string whole =
        head + "%3 = matrix_product(%2, %1) \"p\" {sum_tile 16, precision \"highest\"}\n";
    CHECK(without(whole) == to_text(graph_of_text(whole)));
    // Others read the rounded numbers, too.
    const std::string read =
        "graph \"g\"\ninputs %0, %1\noutputs %3, %2\n" + values + rounding + "%3 = " + product;
    CHECK(without(read) == to_text(graph_of_text(read)));
    // The words of whole numbers are no floats.
    std::string whole_numbers = head + "%3 = " + product;
    whole_numbers.replace(whole_numbers.find("%0 float32"), 10, "%0 int32");
    CHECK(without(whole_numbers) == to_text(graph_of_text(whole_numbers)));
}

TEST_CASE("What a chain computes is rounded by it, not by each product", "[tensor_core]") {
    const std::string graph =
        "graph \"g\"\ninputs %0, %1\noutputs %4\n%0 float32 1x4x4 \"a\"\n%1 float32 1x4x4 \"b\"\n"
        "%2 float32 1x4x4 \"t\"\n%3 bfloat16 1x4x4 \"r\"\n%4 float32 1x4x4 \"p\"\n"
        "%2 = word_chain(%0) \"t\" {steps [\"tanh 0\"]}\n"
        "%3 = word_chain(%2) \"r\" {steps [\"round_to_bfloat16 0\"]}\n"
        "%4 = matrix_product(%3, %1) \"p\" {sum_tile 16, precision \"default\"}\n";
    CHECK(without(graph) == to_text(graph_of_text(graph)));
}

TEST_CASE("A bfloat16 is read as the float32 that it is, but for outputs and moves", "[tensor_core]") {
    const std::string head =
        "%0 bfloat16 1x4 \"x\"\n%1 float32 1x4 \"w\"\n%2 float32 1x4 \"y\"\n"
        "%1 = word_chain(%0) \"w\" {steps [\"or 0 0\"]}\n";
    const std::string chain = head + "%2 = word_chain(%1) \"y\" {steps [\"exp 0\"]}\n";
    CHECK(without("graph \"g\"\ninputs %0\noutputs %2\n" + chain) ==
          "graph \"g\"\ninputs %0\noutputs %1\n%0 bfloat16 1x4 \"x\"\n%1 float32 1x4 \"y\"\n"
          "%1 = word_chain(%0) \"y\" {steps [\"exp 0\"]}\n");
    const std::string output = "graph \"g\"\ninputs %0\noutputs %2, %1\n" + chain;
    CHECK(without(output) == to_text(graph_of_text(output)));
    const std::string sums =
        "graph \"g\"\ninputs %0\noutputs %2\n" + head + "%2 = all_reduce(%1) \"y\" {parts 2}\n";
    CHECK(without(sums) == to_text(graph_of_text(sums)));
}

}  // namespace
}  // namespace systole::tests
