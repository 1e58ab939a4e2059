#pragma once

#include <tlm>

#include "hw/common/counter.h"

namespace systole::hw {

/// The debug tag under which the work of a TLM transaction is counted; a transaction without this extension
/// counts under tag 0. The initiator owns it and keeps it for the lifetime of the payload.
struct TagExtension final : tlm::tlm_extension<TagExtension> {
    explicit TagExtension(Tag of) : tag(of) {}

    tlm::tlm_extension_base* clone() const override { return new TagExtension(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        tag = static_cast<const TagExtension&>(other).tag;
    }
    void free() override {}

    Tag tag;
};

}  // namespace systole::hw
