#include "sim/study/sweep/build_id.h"

#include <catch2/catch.hpp>

using namespace systole;

namespace {

TEST_CASE("The program has a build ID") {
    CHECK(sweep::build_id().size() >= 16);
    CHECK(sweep::build_id().find_first_not_of("0123456789abcdef") == std::string::npos);
}

}  // namespace
