#include "compiler/frontend/decoder_step.h"

#include <catch2/catch.hpp>

using systole::frontend::DecoderStep;
using systole::frontend::size_in;

TEST_CASE("Sizes of a decoder's step follow from the names of exporters", "[onnx][decoder]") {
    const DecoderStep step{.new_tokens = 3, .cached_tokens = 20};
    const auto size = [&](const char* input, std::size_t rank, const char* name) {
        return size_in(step, {.input = input, .rank = rank, .name = name});
    };
    CHECK(size("input_ids", 2, "sequence_length") == 3);
    CHECK(size("input_ids", 2, "") == 3);
    CHECK(size("position_ids", 2, "sequence") == 3);
    CHECK(size("inputs_embeds", 3, "sequence_length") == 3);
    CHECK(size("attention_mask", 2, "past_sequence_length + sequence_length") == 23);
    CHECK(size("attention_mask", 2, "attention_mask_sequence_length") == 23);
    CHECK(size("mask", 2, "") == 23);
    CHECK(size("bias", 2, "total_sequence_length") == 23);
    CHECK(size("past_key_values.0.key", 4, "past_sequence_length") == 20);
    CHECK(size("past_0", 5, "") == 20);
    CHECK(size("KV_Cache", 4, "n") == 20);
    CHECK(size("past_ids", 2, "past_sequence") == 20);  // tokens, but those before
    CHECK(size("cache_position", 1, "sequence") == 3);
    // Of these, the names say nothing of the decoder's tokens.
    CHECK_FALSE(size("position_ids", 3, "batch_size"));
    CHECK_FALSE(size("past_0", 5, "batch"));
    CHECK_FALSE(size("past_0", 5, "num_heads"));
    CHECK_FALSE(size("encoder_hidden_states", 3, "encoder_sequence"));
    CHECK_FALSE(size("encoder_attention_mask", 2, "sequence"));
    CHECK_FALSE(size("pixel_values", 4, "height"));
}
