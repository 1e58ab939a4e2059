# What does a weight tile cost, and from how many rows on does its fetch cost nothing?
# Each layer runs four tiles of 256 x 256. What stands before it is the way into its rhythm.
.tile 256 256 fill 1; .tile 256 256 fill 1; .tile 256 256 fill 1; .tile 256 256 fill 1
.layer "B = 8" matmul; .layer "B = 256" matmul; .layer "B = 1349" matmul
.layer "B = 1350" matmul; .layer "B = 2048" matmul
tag 0; read_weights tile=0; matmul ub=0 acc=0 rows=8
tag 1; read_weights tile=0 count=4; matmul ub=0 acc=0 rows=8 repeat=3
tag 0; read_weights tile=0; matmul ub=0 acc=0 rows=256
tag 2; read_weights tile=0 count=4; matmul ub=0 acc=0 rows=256 repeat=3
tag 0; read_weights tile=0; matmul ub=0 acc=0 rows=1349
tag 3; read_weights tile=0 count=4; matmul ub=0 acc=0 rows=1349 repeat=3
tag 0; read_weights tile=0; matmul ub=0 acc=0 rows=1350
tag 4; read_weights tile=0 count=4; matmul ub=0 acc=0 rows=1350 repeat=3
tag 0; read_weights tile=0; matmul ub=0 acc=0 rows=2048
tag 5; read_weights tile=0 count=4; matmul ub=0 acc=0 rows=2048 repeat=3
tag 0; halt
