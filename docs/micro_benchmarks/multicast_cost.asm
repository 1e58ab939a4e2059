# What do 64 output channels cost on tiles? Each of 4 x 4 tiles has 8 x 8 pixels of an image of 32 x 32.
.tiles 4 4
.layer "64 weights" convolution; .layer "576 weights" convolution; .layer "1024 to 1024" dense
set source.lines 32; set source.columns 32; set source.channels 64
set result.lines 32; set result.columns 32; set result.channels 64
tag 1; multicast unit=0 rows=17 units=4
tile_multiply convolve fixed_point dst=65536 src=0 unit=0
tag 2; set source.channels 576; multicast unit=68 rows=145 units=4
tile_multiply convolve fixed_point dst=65536 src=0 unit=68
tag 3; set source.channels 1024; set result.channels 1024
tile_multiply dense fixed_point dst=65536 src=0 unit=1000
tag 0; halt
