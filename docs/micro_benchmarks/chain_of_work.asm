# What does element-wise work cost? Each layer works on 1024 x 128 numbers, 128 vectors of 8 x 128, in their place.
.tensor_core 128 128
.chain scale; .source rows; .source row; .step multiply 0 1; .result 2
.chain bias_and_relu; .source rows; .source row; .step add 0 1; .step constant 0; .step maximum 2 3; .result 4
.chain scale_and_add; .source rows; .source rows; .source row; .step multiply 0 2; .step add 3 1; .result 4
.chain logistic; .source rows; .step logistic 0; .result 1
.layer "a * row" chain; .layer "max(a + row, 0)" chain; .layer "both" chain
.layer "a * row + b" chain; .layer "logistic(a)" chain
tag 1; chain 0 rows=1024 columns=128 dst=0 a=0 b=4096
tag 2; chain 1 rows=1024 columns=128 dst=0 a=0 b=4096
tag 3; chain 0 rows=1024 columns=128 dst=0 a=0 b=4096; chain 1 rows=1024 columns=128 dst=0 a=0 b=4096
tag 4; chain 2 rows=1024 columns=128 dst=0 a=0 b=1024 c=4096
tag 5; chain 3 rows=1024 columns=128 dst=0 a=0
tag 0; halt
