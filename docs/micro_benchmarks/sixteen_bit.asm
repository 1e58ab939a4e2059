# What do 16-bit activations and weights cost? Each layer streams 1000 rows through each of four tiles.
.tile 256 256 fill 1; .tile 256 256 fill 1; .tile 256 256 fill 1; .tile 256 256 fill 1
.tile 256 256 bytes=2 fill 1; .tile 256 256 bytes=2 fill 1
.tile 256 256 bytes=2 fill 1; .tile 256 256 bytes=2 fill 1
.layer "a 8, w 8" matmul; .layer "a 8, w 16" matmul; .layer "a 16, w 8" matmul; .layer "a 16, w 16" matmul
set multiply.row_stride 2                         # a row of 16-bit activations takes two of the buffer
read_weights tile=0; matmul ub=0 acc=0 rows=1000
tag 1; read_weights tile=0 count=4; matmul ub=0 acc=0 rows=1000 repeat=3
tag 0; read_weights tile=4; matmul ub=0 acc=0 rows=1000 wide_w
tag 2; read_weights tile=4 count=4; matmul ub=0 acc=0 rows=1000 repeat=3 wide_w
tag 3; read_weights tile=0 count=4; matmul ub=0 acc=0 rows=1000 repeat=3 wide_a
tag 4; read_weights tile=4 count=4; matmul ub=0 acc=0 rows=1000 repeat=3 wide_a wide_w
tag 0; halt
