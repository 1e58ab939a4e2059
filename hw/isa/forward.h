#pragma once

// What the declarations of the instructions only name.
namespace systole::isa {

class FieldVisitor;
class Registers;
struct Footprint;
struct Geometry;

}  // namespace systole::isa
