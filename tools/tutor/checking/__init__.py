"""What the lessons' checks are made of. A lesson's check.py has a function exercise_N for each exercise."""
